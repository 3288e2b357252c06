import { KycEventSchema } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { PaymentEventSchema } from "@amana/contracts/payments/v1/payment_events_pb";
import { overdueRows } from "@amana/jobs";
import { recordAction, stuckInboxRows, stuckOutboxRows } from "@amana/messaging";
import type { ConsumedEvent, RepairedService } from "@amana/service-host";
import { dueAtOfEndpoint } from "./event/delivery-schedule.ts";
import { eventEvidence } from "./event/evidence.ts";
import { database } from "./orm.ts";

/** SQL expressions on events: the row's id, its status, and details that help to find it. */
const told: Readonly<Record<string, { type: string; columns: string }>> = {
  payments: {
    type: "PAYMENT\\_%",
    columns: `e.body::json ->> 'payment_id' as id, e.body::json ->> 'status' as status,
      concat_ws(', ', e.body::json ->> 'amount' || ' ' || (e.body::json ->> 'currency'),
        'given back ' || (e.body::json ->> 'refunded_amount'), 'order ' || (e.body::json ->> 'processor_order_id')) as details`,
  },
  kyc: {
    type: "KYC\\_%",
    columns: `e.body::json ->> 'application_id' as id, coalesce(e.body::json ->> 'verdict', e.body::json ->> 'status') as status,
      concat_ws(', ', 'client ' || (e.body::json ->> 'client_id'), 'external id ' || (e.body::json ->> 'external_id')) as details`,
  },
};

/** Returns events that webhooks received from a service and that service may have lost. */
const heard: RepairedService["heard"] = async (em, from, afterEventId, limit) => {
  const known = told[from];
  if (!known) return [];
  return await em.execute<ConsumedEvent[]>(
    `select e.id as "eventId", e.business_id as "businessId", ${known.columns}
     from event e where e.id > ?::uuid and e.type like ? order by e.id limit ?::int`,
    [afterEventId, known.type, String(limit)],
  );
};

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
  heard,
  waiting: [
    {
      what: "deliveries that are due and not attempted",
      table: "delivery",
      where: `status = 'PENDING' and ${dueAtOfEndpoint} < now() - interval '5 minutes'`,
      since: "next_attempt_at",
      todo: "Slow endpoints have two slots each, and DELIVERY_CONCURRENCY limits all: see the log, and add a replica if all are late.",
    },
    {
      what: "endpoints that have done nothing but fail for an hour",
      table: "webhook_endpoint",
      where: "status = 'ACTIVE' and failing_since < now() - interval '1 hour'",
      since: "failing_since",
      todo: "Their deliveries are tried again for a day and can be replayed; after five days the endpoint is disabled. Tell the business.",
    },
    overdueRows("replays to go on with", "webhook_replay", "next_step_at"),
    ...stuckInboxRows,
    ...stuckOutboxRows,
  ],
};
