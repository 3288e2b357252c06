import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { UnknownEventTypeError } from "@amana/messaging";
import { isEventType, renderPaymentEvent } from "@amana/public-api";
import type { Context } from "../context.ts";
import { createEventHandler } from "../event/add-events.ts";
import { requireSupported } from "./require-supported.ts";

/** Creates events for businesses from payments.v1. */
export const createPaymentsHandler = (context: Context) =>
  createEventHandler(context, "payments.v1", PaymentEventSchema, (event, id, occurredAt) => {
    const body = renderPaymentEvent(event, id, occurredAt);
    if (event.type === PaymentEventType.UNSPECIFIED) throw new TypeError("payment event without a type");
    if (!isEventType(body.event)) throw new UnknownEventTypeError(`payment event ${event.type}`);
    requireSupported(PaymentStatus, event.payment?.status, "payment status");
    return { businessId: body.business_id, type: body.event, body: JSON.stringify(body) };
  });
