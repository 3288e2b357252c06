import { enumName } from "@amana/contracts/enum-names";
import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { UnknownEventTypeError } from "@amana/messaging";
import { isEventType, renderKycEvent } from "@amana/public-api";
import type { Context } from "../context.ts";
import { createEventHandler } from "../event/add-events.ts";
import { requireSupported } from "./require-supported.ts";

/**
 * Creates the handler that turns messages of the topic kyc.v1 into public events of businesses. The
 * handler ignores KYC events whose type is not public.
 */
export const createKycHandler = (context: Context) =>
  createEventHandler(context, "kyc.v1", KycEventSchema, (event, id, occurredAt) => {
    const type = enumName(KycEventType, event.type);
    if (type === undefined) throw new TypeError("KYC event without a type");
    if (!type) throw new UnknownEventTypeError(`KYC event ${event.type}`);
    if (!isEventType(type)) return undefined;
    requireSupported(KycStatus, event.application?.status, "KYC status");
    requireSupported(KycVerdict, event.application?.verdict, "KYC verdict");
    return { businessId: event.application?.businessId ?? "", type, body: renderKycEvent(event, id, occurredAt) };
  });
