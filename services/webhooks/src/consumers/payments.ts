import { PaymentEventSchema } from "@amana/contracts/payments/v1/payment_events_pb";
import type { Consumption, Message } from "@amana/messaging";
import { isEventType, renderPaymentEvent } from "@amana/public-api";
import { fromBinary } from "@bufbuild/protobuf";
import { addEvents, type NewEvent } from "../event/add-events.ts";

/** What happens to payments becomes events and, for each endpoint that asks for them, deliveries. */
export const payments = (committed: () => void): Consumption => ({
  topic: "payments.v1",
  consumer: "webhooks",
  effect: (em, messages) => addEvents(em, messages.map(toEvent)),
  committed,
});

/** Throws for a message that no event can be made of. */
function toEvent(message: Message): NewEvent {
  const { ce_id: id = "", ce_time: time = "" } = message.headers;
  const occurredAt = new Date(time).toISOString();
  const body = renderPaymentEvent(fromBinary(PaymentEventSchema, message.payload), id, occurredAt);
  if (!isEventType(body.event)) throw new TypeError(`"${body.event}" is not a type of event`);
  return { id, businessId: body.business_id, type: body.event, occurredAt, body: JSON.stringify(body) };
}
