import { pascalCase } from "@amana/contracts/enum-names";
import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import type { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { afterCommit } from "@amana/database";
import { addToOutbox } from "@amana/messaging";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { paymentEvents } from "../metrics.ts";
import { toPaymentMessage } from "./payment.message.ts";
import type { Payment, PaymentChange } from "./payment.ts";

/**
 * Fields that events omit, because no consumer needs them. Some URLs contain page tokens, and the
 * other fields contain texts about the buyer and the order.
 */
const omittedFields: ReadonlySet<string> = new Set([
  "successUrl",
  "failUrl",
  "formUrl",
  "receiptUrl",
  "description",
  "customerName",
  "customerEmail",
  "customerPhone",
]);

function eventPayment(payment: Payment, context: Pick<Context, "publicUrl">): MessageInitShape<typeof PaymentSchema> {
  // Omits $typeName, because otherwise `create` would treat these fields as a complete message.
  const { $typeName: _, ...fields } = toPaymentMessage(payment, context);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !omittedFields.has(name)));
}

/**
 * Adds an event for a change to the outbox, in the transaction of `em`. The event contains the
 * payment's current state.
 */
export function emitPaymentEvent(
  em: SqlEntityManager,
  context: Pick<Context, "publicUrl">,
  payment: Payment,
  change: PaymentChange,
  now: Date,
  traceparent: string | null | undefined = payment.traceparent,
): void {
  const event = create(PaymentEventSchema, {
    type: PaymentEventType[change],
    payment: eventPayment(payment, context),
    ...(payment.linkMetadata != null && { linkMetadata: payment.linkMetadata }),
  });
  addToOutbox(em, {
    topic: "payments.v1",
    key: payment.id,
    type: `payments.v1.${pascalCase(change)}`,
    source: "payments",
    payload: toBinary(PaymentEventSchema, event),
    occurredAt: now,
    traceparent: traceparent ?? undefined,
  });
  afterCommit(em, () => paymentEvents.inc({ type: change.toLowerCase() }));
}
