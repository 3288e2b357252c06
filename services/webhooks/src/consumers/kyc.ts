import { enumName } from "@amana/contracts/enum-names";
import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { UnknownEventTypeError } from "@amana/messaging";
import { isEventType, renderKycEvent } from "@amana/public-api";
import type { Context } from "../context.ts";
import { eventConsumption } from "../event/add-events.ts";
import { requireKnown } from "./require-known.ts";

/** What happens to KYC applications becomes events, but for steps only other services hear of. */
export const kyc = (context: Context) =>
  eventConsumption(context, "kyc.v1", KycEventSchema, (event, id, occurredAt) => {
    const type = enumName(KycEventType, event.type);
    if (type === undefined) throw new TypeError("a KYC event says what happened");
    if (!type) throw new UnknownEventTypeError(`KYC event ${event.type}`);
    if (!isEventType(type)) return undefined;
    requireKnown(KycStatus, event.application?.status, "KYC status");
    requireKnown(KycVerdict, event.application?.verdict, "KYC verdict");
    return { businessId: event.application?.businessId ?? "", type, body: renderKycEvent(event, id, occurredAt) };
  });
