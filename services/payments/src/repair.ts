import { overdueRows } from "@amana/jobs";
import { recordAction, stuckOutboxRows } from "@amana/messaging";
import type { RepairedService } from "@amana/service-host";
import { database } from "./orm.ts";
import { compareWithConsumed } from "./payment/compare-consumed.ts";
import { paymentEvidence } from "./payment/evidence.ts";
import { orderStatuses } from "./payment/payment.ts";
import { holdRefunds, releaseRefunds } from "./refund/hold.ts";

/** What the command `amana` knows of this service. */
export const repair: RepairedService = {
  name: "payments",
  database,
  emits: ["payments.v1", "audit.v1"],
  consumes: {},
  record: recordAction("payments"),
  evidence: paymentEvidence,
  compare: compareWithConsumed,
  refunds: { hold: holdRefunds, release: releaseRefunds },
  waiting: [
    {
      what: "refunds are held, after a restore or a failover",
      table: "refund_hold",
      where: "held_until > now()",
      since: "now()",
      id: "to_char(held_until at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
      todo: "docs/restore.md says why. They go on by themselves at the time named; amana refunds release --reason ends it for those who know that no commit was lost.",
    },
    {
      what: "payments that are paid and not confirmed: the processor cancels them about 20 minutes after they began",
      table: "payment",
      where: `next_check_at is not null and status = 'PENDING' and processor_order_status = ${orderStatuses.deposited}
        and created_at < now() - interval '3 minutes'`,
      since: "created_at",
      todo: "Confirming is tried by itself. See that the processor can be reached, and its password is good: the log says what it answers.",
    },
    {
      what: "payments whose order may be at the processor or not",
      table: "payment",
      where:
        "next_check_at is not null and status = 'PENDING' and processor_order_id is null and created_at < now() - interval '5 minutes'",
      since: "created_at",
      todo: "The order is looked up by its number, by itself. See that the processor can be reached.",
    },
    {
      what: "refunds that wait for an operator's decision",
      table: "refund",
      where: "needs_decision_since is not null",
      since: "needs_decision_since",
      todo: "GET /api/v1/admin/refunds shows what the processor says; decide with POST /api/v1/admin/refunds/ID/resolve.",
    },
    {
      what: "refunds without a known outcome",
      table: "refund",
      where: `status in ('REQUESTED', 'SENT', 'UNKNOWN') and needs_decision_since is null and next_check_at is not null
        and created_at < now() - interval '10 minutes'`,
      since: "created_at",
      todo: "The order is read until its outcome shows, for a day; then an operator decides. See that the processor can be reached.",
    },
    {
      what: "payments that are other at the processor than here, which no rule explains",
      table: "payment",
      where: "difference is not null",
      since: "processor_read_at",
      todo: "GET /api/v1/admin/payments shows both sides. Clear it up with the processor: it is read again until it agrees.",
    },
    overdueRows("payments to look at", "payment", "next_check_at"),
    overdueRows("refunds to look at", "refund", "next_check_at"),
    overdueRows("settled payments to read again", "payment", "next_reread_at", 60),
    overdueRows("refunded and expired payments to read again", "payment", "next_follow_up_at", 60),
    ...stuckOutboxRows,
  ],
};
