import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { UnknownEventTypeError } from "@amana/messaging";
import { isEventType, renderPaymentEvent } from "@amana/public-api";
import type { Context } from "../context.ts";
import { eventConsumption } from "../event/add-events.ts";
import { requireKnown } from "./require-known.ts";

/** What happens to payments becomes events, and deliveries to each endpoint that asks. */
export const payments = (context: Context) =>
  eventConsumption(context, "payments.v1", PaymentEventSchema, (event, id, occurredAt) => {
    const body = renderPaymentEvent(event, id, occurredAt);
    if (event.type === PaymentEventType.UNSPECIFIED) throw new TypeError("a payment event says what happened");
    if (!isEventType(body.event)) throw new UnknownEventTypeError(`payment event ${event.type}`);
    requireKnown(PaymentStatus, event.payment?.status, "payment status");
    return { businessId: body.business_id, type: body.event, body: JSON.stringify(body) };
  });
