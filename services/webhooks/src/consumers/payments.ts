import { enumName } from "@amana/contracts/enum-names";
import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { UnknownEventTypeError } from "@amana/messaging";
import { isEventType, renderPaymentEvent } from "@amana/public-api";
import type { Context } from "../context.ts";
import { createEventHandler } from "../event/add-events.ts";
import { requireSupported } from "./require-supported.ts";

/** Creates the handler that turns messages of payments.v1 into public events of businesses. */
export const createPaymentsHandler = (context: Context) =>
  createEventHandler(context, "payments.v1", PaymentEventSchema, (event, id, occurredAt) => {
    const type = enumName(PaymentEventType, event.type);
    if (type === undefined) throw new TypeError("payment event without a type");
    if (!type || !isEventType(type)) throw new UnknownEventTypeError(`payment event ${event.type}`);
    requireSupported(PaymentStatus, event.payment?.status, "payment status");
    return { businessId: event.payment?.businessId ?? "", type, body: renderPaymentEvent(event, id, occurredAt) };
  });
