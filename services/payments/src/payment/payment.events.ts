import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { addToOutbox } from "@amana/messaging";
import { create, toBinary } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { toPaymentMessage } from "./payment.message.ts";
import type { Payment } from "./payment.ts";

const eventTypes = {
  completed: ["PaymentCompleted", PaymentEventType.PAYMENT_COMPLETED],
  refused: ["PaymentRefused", PaymentEventType.PAYMENT_REFUSED],
  failed: ["PaymentFailed", PaymentEventType.PAYMENT_FAILED],
  canceled: ["PaymentCanceled", PaymentEventType.PAYMENT_CANCELED],
  expired: ["PaymentExpired", PaymentEventType.PAYMENT_EXPIRED],
  refunded: ["PaymentRefunded", PaymentEventType.PAYMENT_REFUNDED],
} as const;

/** Announces what happened to a payment, as it is now, with the transaction of `em`. */
export function announce(em: SqlEntityManager, payment: Payment, event: keyof typeof eventTypes, now: Date): void {
  const [name, type] = eventTypes[event];
  addToOutbox(em, {
    topic: "payments.v1",
    key: payment.id,
    type: `payments.v1.${name}`,
    source: "payments",
    payload: toBinary(PaymentEventSchema, create(PaymentEventSchema, { type, payment: toPaymentMessage(payment) })),
    occurredAt: now,
    traceparent: payment.traceparent ?? undefined,
  });
}
