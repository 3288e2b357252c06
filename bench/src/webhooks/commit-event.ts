import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { uuidv7 } from "@amana/runtime";
import { create, toBinary } from "@bufbuild/protobuf";
import type pg from "pg";

/** The numbers that identify an event. Receivers get the event id, which contains both numbers. */
export interface EventNumber {
  readonly run: number;
  readonly index: number;
}

const formatHex = (number: number, digits: number) => number.toString(16).padStart(digits, "0");

/** Returns a UUID of version 7 that contains `run` and `index` in place of random digits. */
export const createEventId = ({ run, index }: EventNumber): string =>
  `${uuidv7().slice(0, 24)}${formatHex(run, 4)}${formatHex(index, 8)}`;

/** Returns the numbers in an event id. For any other id, `run` is a number that no run has. */
export const readEventNumber = (id: string): EventNumber => ({
  run: Number.parseInt(id.slice(24, 28), 16),
  index: Number.parseInt(id.slice(28), 16),
});

/** Commits a refund event to the outbox like `addToOutbox`, but without the ORM. */
export async function commitEvent(pool: pg.Pool, businessId: string, number: EventNumber): Promise<void> {
  await pool.query({
    name: "commit_event",
    text: "insert into outbox (topic, key, payload, headers) values ($1, $2, $3, $4)",
    values: outboxValues(createEventId(number), businessId, uuidv7()),
  });
}

/** Returns topic, key, payload and headers of a refund event. */
export function outboxValues(id: string, businessId: string, paymentId: string): [string, string, Buffer, string] {
  const headers = {
    ce_specversion: "1.0",
    ce_id: id,
    ce_type: "payments.v1.PaymentRefunded",
    ce_source: "payments",
    ce_time: new Date().toISOString(),
    "content-type": "application/protobuf",
    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  };
  return ["payments.v1", paymentId, payloadOf(businessId, paymentId), JSON.stringify(headers)];
}

const templates = new Map<string, { payload: Buffer; idAt: number }>();

/**
 * Returns the payload that payments would encode. Encodes it only once for each business, and
 * replaces the payment id for each further event.
 */
function payloadOf(businessId: string, paymentId: string): Buffer {
  const template = templates.get(businessId) ?? createTemplate(businessId, paymentId);
  templates.set(businessId, template);
  const payload = Buffer.from(template.payload);
  payload.write(paymentId, template.idAt, "latin1");
  return payload;
}

function createTemplate(businessId: string, paymentId: string) {
  const payment = {
    id: paymentId,
    businessId,
    status: PaymentStatus.REFUNDED,
    orderRef: "order-1",
    processorOrderId: "V721uPPfNNofVQAAABL3",
    processorOrderNumber: "1234567890",
    amountMinor: 500_000n,
    currency: "DZD",
    refundedAmountMinor: 500_000n,
    successUrl: "https://shop.example/merci",
    failUrl: "https://shop.example/desole",
  };
  const payload = Buffer.from(
    toBinary(PaymentEventSchema, create(PaymentEventSchema, { type: PaymentEventType.PAYMENT_REFUNDED, payment })),
  );
  return { payload, idAt: payload.indexOf(paymentId) };
}
