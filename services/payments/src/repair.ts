import { overdueRows } from "@amana/jobs";
import { recordAction, stuckOutboxRows } from "@amana/messaging";
import type { ServiceDescription } from "@amana/service-host";
import { database } from "./orm.ts";
import { findDifferences } from "./payment/compare-consumed.ts";
import { paymentEvidence } from "./payment/evidence.ts";
import { orderStatuses } from "./payment/payment.ts";
import { holdRefunds, releaseRefunds } from "./refund/refund-hold.ts";

/** Description of the payments service for the command `amana`. */
export const repair: ServiceDescription = {
  name: "payments",
  database,
  emits: ["payments.v1", "audit.v1"],
  consumes: {},
  record: recordAction("payments"),
  evidence: paymentEvidence,
  findDifferences,
  refunds: { hold: holdRefunds, release: releaseRefunds },
  stuckRows: [
    {
      what: "refunds held after a restore or a failover",
      table: "refund_hold",
      where: "held_until > now()",
      since: "now()",
      id: "to_char(held_until at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
      todo: "The hold ends automatically at the displayed time; docs/restore.md explains the hold. If the database lost no commit, end the hold with: amana refunds release --reason.",
    },
    {
      what: "payments that are paid and not confirmed; the processor cancels such a payment about 20 minutes after its creation",
      table: "payment",
      where: `next_check_at is not null and status = 'PENDING' and processor_order_status = ${orderStatuses.deposited}
        and created_at < now() - interval '3 minutes'`,
      since: "created_at",
      todo: "The service retries the confirm automatically. Check that the processor is reachable and SATIM_PASSWORD is valid; the log of the payments service contains the processor's responses.",
    },
    {
      what: "payments with an unknown registration outcome",
      table: "payment",
      where:
        "next_check_at is not null and status = 'PENDING' and processor_order_id is null and created_at < now() - interval '5 minutes'",
      since: "created_at",
      todo: "The service looks up the order by its number automatically. Check that the processor is reachable.",
    },
    {
      what: "refunds that need an operator's decision",
      table: "refund",
      where: "needs_decision_since is not null",
      since: "needs_decision_since",
      todo: "Compare the refund with the order's state in GET /api/v1/admin/refunds. Decide with POST /api/v1/admin/refunds/ID/resolve.",
    },
    {
      what: "refunds with an unknown outcome",
      table: "refund",
      where: `status in ('REQUESTED', 'SENT', 'UNKNOWN') and needs_decision_since is null and next_check_at is not null
        and created_at < now() - interval '10 minutes'`,
      since: "created_at",
      todo: "The service reads the order again until the outcome is known. After REFUND_DECISION_AFTER_SECONDS (default: a day), an operator must decide. Check that the processor is reachable.",
    },
    {
      what: "payments with an unexplained difference at the processor",
      table: "payment",
      where: "difference is not null",
      since: "processor_read_at",
      todo: "GET /api/v1/admin/payments shows Amana's state and the processor's state. Resolve the difference with the processor. The service reads the payment again until the two states agree.",
    },
    {
      what: "payments that were made before an upgrade and have no statement lines yet; statements are unavailable until the lines exist",
      table: "money_movement_fill",
      where: "began_at < now() - interval '1 hour'",
      since: "began_at",
      id: "after_id::text",
      todo: "The payments service inserts the lines automatically. Look for the job fill-money-movements in the service's log.",
    },
    overdueRows("payments to check", "payment", "next_check_at"),
    overdueRows("refunds to check", "refund", "next_check_at"),
    overdueRows("settled payments to read again", "payment", "next_reread_at", 60),
    overdueRows("refunded and expired payments to read again", "payment", "next_follow_up_at", 60),
    overdueRows("receipt e-mails to send", "receipt_mail", "next_attempt_at"),
    ...stuckOutboxRows,
  ],
};
