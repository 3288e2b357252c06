import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Consumption, type Message, UnknownEventTypeError } from "@amana/messaging";
import { isEventType, renderPaymentEvent } from "@amana/public-api";
import { fromBinary } from "@bufbuild/protobuf";
import type { Context } from "../context.ts";
import { eventConsumption, type NewDeliveries, type NewEvent } from "../event/add-events.ts";

/** What happens to payments becomes events, and deliveries to each endpoint that asks. */
export const payments = (context: Context): Consumption<NewDeliveries> => ({
  topic: "payments.v1",
  schema: PaymentEventSchema,
  ...eventConsumption(context, toEvent),
});

/** Throws for a message that no event can be made of. */
function toEvent(message: Message): NewEvent {
  const { ce_id: id = "", ce_time: time = "" } = message.headers;
  const occurredAt = new Date(time).toISOString();
  const event = fromBinary(PaymentEventSchema, message.payload);
  const body = renderPaymentEvent(event, id, occurredAt);
  if (event.type === PaymentEventType.UNSPECIFIED) throw new TypeError("a payment event says what happened");
  if (!isEventType(body.event)) throw new UnknownEventTypeError(`payment event ${event.type}`);
  return { id, businessId: body.business_id, type: body.event, occurredAt, body: JSON.stringify(body) };
}
