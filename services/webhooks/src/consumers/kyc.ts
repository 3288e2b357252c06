import { enumName } from "@amana/contracts/enum-names";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { type Consumption, type Message, UnknownEventTypeError } from "@amana/messaging";
import { isEventType, renderKycEvent } from "@amana/public-api";
import { fromBinary } from "@bufbuild/protobuf";
import type { Context } from "../context.ts";
import { eventConsumption, type NewDeliveries, type NewEvent } from "../event/add-events.ts";

/** What happens to KYC applications becomes events, but for steps only other services hear of. */
export const kyc = (context: Context): Consumption<NewDeliveries> => ({
  topic: "kyc.v1",
  schema: KycEventSchema,
  ...eventConsumption(context, toEvent),
});

/** Throws for a message that no event can be made of. */
function toEvent(message: Message): NewEvent | undefined {
  const { ce_id: id = "", ce_time: time = "" } = message.headers;
  const occurredAt = new Date(time).toISOString();
  const event = fromBinary(KycEventSchema, message.payload);
  const type = enumName(KycEventType, event.type);
  if (type === undefined) throw new TypeError("a KYC event says what happened");
  if (!type) throw new UnknownEventTypeError(`KYC event ${event.type}`);
  if (!isEventType(type)) return undefined;
  const body = renderKycEvent(event, id, occurredAt);
  return { id, businessId: event.application?.businessId ?? "", type, occurredAt, body };
}
