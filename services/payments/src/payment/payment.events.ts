import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { addToOutbox } from "@amana/messaging";
import { create, toBinary } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { toPaymentMessage } from "./payment.message.ts";
import type { Payment, PaymentChange } from "./payment.ts";

const eventTypes = {
  completed: ["PaymentCompleted", PaymentEventType.PAYMENT_COMPLETED],
  refused: ["PaymentRefused", PaymentEventType.PAYMENT_REFUSED],
  failed: ["PaymentFailed", PaymentEventType.PAYMENT_FAILED],
  canceled: ["PaymentCanceled", PaymentEventType.PAYMENT_CANCELED],
  expired: ["PaymentExpired", PaymentEventType.PAYMENT_EXPIRED],
  refunded: ["PaymentRefunded", PaymentEventType.PAYMENT_REFUNDED],
} as const satisfies Record<PaymentChange, unknown>;

/**
 * Announces what happened to a payment, as it is now, with the transaction of `em`. `traceparent` is that of the
 * request which brought it about.
 */
export function announce(
  em: SqlEntityManager,
  payment: Payment,
  change: PaymentChange,
  now: Date,
  traceparent: string | null | undefined = payment.traceparent,
): void {
  const [name, type] = eventTypes[change];
  addToOutbox(em, {
    topic: "payments.v1",
    key: payment.id,
    type: `payments.v1.${name}`,
    source: "payments",
    payload: toBinary(PaymentEventSchema, create(PaymentEventSchema, { type, payment: toPaymentMessage(payment) })),
    occurredAt: now,
    traceparent: traceparent ?? undefined,
  });
}
