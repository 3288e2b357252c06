import type { Heard, RepairedService } from "@amana/amana";
import { KycEventSchema } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { PaymentEventSchema } from "@amana/contracts/payments/v1/payment_events_pb";
import { overdue } from "@amana/due-work";
import { inboxWaiting, outboxWaiting, recordAction } from "@amana/messaging";
import { eventEvidence } from "./event/evidence.ts";
import { database } from "./orm.ts";

/** What businesses were told of payments, for when payments has forgotten it. */
const heardOfPayments: RepairedService["heard"] = async (em, afterEventId, limit) =>
  await em.execute<Heard[]>(
    `select e.id as "eventId", e.body::json ->> 'payment_id' as id, e.business_id as "businessId", e.body::json ->> 'status' as status,
       concat_ws(', ', e.body::json ->> 'amount' || ' ' || (e.body::json ->> 'currency'),
         'given back ' || (e.body::json ->> 'refunded_amount'), 'order ' || (e.body::json ->> 'processor_order_id')) as details
     from event e where e.id > ?::uuid and e.type like 'PAYMENT\\_%' order by e.id limit ?::int`,
    [afterEventId, String(limit)],
  );

/** What the command `amana` knows of this service. */
export const repair: RepairedService = {
  name: "webhooks",
  database,
  emits: ["audit.v1"],
  consumes: { "payments.v1": PaymentEventSchema, "kyc.v1": KycEventSchema },
  record: recordAction("webhooks"),
  evidence: eventEvidence,
  sealed: [
    { table: "webhook_endpoint", column: "secret_ciphertext" },
    { table: "webhook_endpoint", column: "previous_secret_ciphertext" },
  ],
  heard: heardOfPayments,
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
