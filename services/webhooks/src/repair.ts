import type { RepairedService } from "@amana/amana";
import { KycEventSchema } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { PaymentEventSchema } from "@amana/contracts/payments/v1/payment_events_pb";
import { overdue } from "@amana/due-work";
import { inboxWaiting, outboxWaiting, recordAction } from "@amana/messaging";
import { database } from "./orm.ts";

/** What the command `amana` knows of this service. */
export const repair: RepairedService = {
  name: "webhooks",
  database,
  emits: ["audit.v1"],
  consumes: { "payments.v1": PaymentEventSchema, "kyc.v1": KycEventSchema },
  record: recordAction("webhooks"),
  sealed: [
    { table: "webhook_endpoint", column: "secret_ciphertext" },
    { table: "webhook_endpoint", column: "previous_secret_ciphertext" },
  ],
  waiting: [
    {
      what: "deliveries that are due and not attempted",
      table: "delivery",
      where: "status = 'PENDING' and greatest(next_attempt_at, leased_until) < now() - interval '5 minutes'",
      since: "next_attempt_at",
      todo: "Attempts give way to slow endpoints and to the bounds of DELIVERY_CONCURRENCY: see the log, and add a replica if all are late.",
    },
    {
      what: "endpoints that have done nothing but fail for an hour",
      table: "webhook_endpoint",
      where: "status = 'ACTIVE' and failing_since < now() - interval '1 hour'",
      since: "failing_since",
      todo: "Their deliveries are tried again for a day and can be replayed; after five days the endpoint is disabled. Tell the business.",
    },
    overdue("replays to go on with", "webhook_replay", "next_step_at"),
    ...inboxWaiting,
    ...outboxWaiting,
  ],
};
