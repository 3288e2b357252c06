import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import type { Message } from "@amana/messaging";
import { uuidv7 } from "@amana/runtime";
import { create, toBinary } from "@bufbuild/protobuf";

/** Creates a message of the topic payments.v1. Its `id` is the event id. */
export function aPaymentEvent(
  values: {
    id?: string;
    businessId?: string;
    type?: PaymentEventType;
    occurredAt?: string;
    orderRef?: string;
    paymentId?: string;
    origin?: string;
    status?: PaymentStatus;
  } = {},
): Message & { id: string } {
  const id = values.id ?? uuidv7();
  const paymentId = values.paymentId ?? uuidv7();
  const payload = toBinary(
    PaymentEventSchema,
    create(PaymentEventSchema, {
      type: values.type ?? PaymentEventType.PAYMENT_REFUNDED,
      payment: {
        id: paymentId,
        businessId: values.businessId ?? uuidv7(),
        status: values.status ?? PaymentStatus.REFUNDED,
        orderRef: values.orderRef ?? "order-1",
        processorOrderId: "V721uPPfNNofVQAAABL3",
        amountMinor: 500_000n,
        currency: "DZD",
        refundedAmountMinor: 500_000n,
        ...(values.origin ? { origin: values.origin } : {}),
      },
    }),
  );
  const headers = {
    ce_specversion: "1.0",
    ce_id: id,
    ce_type: "payments.v1.PaymentRefunded",
    ce_source: "payments",
    ce_time: values.occurredAt ?? new Date().toISOString(),
  };
  return { id, key: paymentId, payload, headers };
}
