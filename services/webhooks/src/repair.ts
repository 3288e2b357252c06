import { KycEventSchema } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { PaymentEventSchema } from "@amana/contracts/payments/v1/payment_events_pb";
import { overdueRows } from "@amana/jobs";
import { recordAction, stuckInboxRows, stuckOutboxRows } from "@amana/messaging";
import type { ConsumedEvent, ServiceDescription } from "@amana/service-host";
import { endpointDueAtSql } from "./delivery/retry-policy.ts";
import { eventEvidence } from "./event/evidence.ts";
import { database } from "./orm.ts";

/**
 * For each service whose events webhooks consumes: a pattern of its event types, and SQL
 * expressions for the changed row's id, status and identifying details.
 */
const sources: Readonly<Record<string, { type: string; columns: string }>> = {
  payments: {
    type: "PAYMENT\\_%",
    columns: `e.body::json ->> 'payment_id' as id, e.body::json ->> 'status' as status,
      concat_ws(', ', e.body::json ->> 'amount' || ' ' || (e.body::json ->> 'currency'),
        'refunded ' || (e.body::json ->> 'refunded_amount'), 'order ' || (e.body::json ->> 'processor_order_id')) as details`,
  },
  kyc: {
    type: "KYC\\_%",
    columns: `e.body::json ->> 'application_id' as id, coalesce(e.body::json ->> 'verdict', e.body::json ->> 'status') as status,
      concat_ws(', ', 'client ' || (e.body::json ->> 'client_id'), 'external id ' || (e.body::json ->> 'external_id')) as details`,
  },
};

/**
 * Returns events that webhooks received from the service `from`. The database of that service may
 * have lost the changes behind these events in a restore.
 */
const readReceivedEvents: ServiceDescription["consumedEvents"] = async (em, from, afterEventId, limit) => {
  const source = sources[from];
  if (!source) return [];
  return await em.execute<ConsumedEvent[]>(
    `select e.id as "eventId", e.business_id as "businessId", ${source.columns}
     from event e where e.id > ?::uuid and e.type like ? order by e.id limit ?::int`,
    [afterEventId, source.type, String(limit)],
  );
};

export const repair: ServiceDescription = {
  name: "webhooks",
  database,
  emits: ["audit.v1"],
  consumes: { "payments.v1": PaymentEventSchema, "kyc.v1": KycEventSchema },
  record: recordAction("webhooks"),
  evidence: eventEvidence,
  encryptedColumns: [
    { table: "webhook_endpoint", column: "secret_ciphertext" },
    { table: "webhook_endpoint", column: "previous_secret_ciphertext" },
  ],
  consumedEvents: readReceivedEvents,
  stuckRows: [
    {
      what: "deliveries that are due and not attempted",
      table: "delivery",
      // A delivery whose attempts leave no result has a lease again and again.
      where: `status = 'PENDING'
        and (${endpointDueAtSql} < now() - interval '5 minutes' or next_attempt_at < now() - interval '30 minutes')`,
      since: "next_attempt_at",
      todo: "Check the log of webhooks. If only slow endpoints are affected, their limit of two slots each is the cause. If all endpoints are affected, add a replica or raise DELIVERY_CONCURRENCY.",
    },
    {
      what: "endpoints without a successful delivery for an hour",
      table: "webhook_endpoint",
      where: "status = 'ACTIVE' and failing_since < now() - interval '1 hour'",
      since: "failing_since",
      todo: "Inform the business. Deliveries are retried for a day and can be replayed. After five days of failures the endpoint is disabled.",
    },
    overdueRows("replays whose next step is overdue", "webhook_replay", "next_step_at"),
    ...stuckInboxRows,
    ...stuckOutboxRows,
  ],
};
