import type { EnumName } from "@amana/contracts/enum-names";
import type { KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import type { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";

/** Steps on the way, which other services are told of and businesses are not. */
type Step = "KYC_CREATED" | "KYC_OPENED" | "KYC_SUBMITTED" | "KYC_PROCESSING";

export type EventType =
  | EnumName<typeof PaymentEventType>
  | Exclude<EnumName<typeof KycEventType>, Step>
  | "WEBHOOK_ENDPOINT_DISABLED";

/** `meaning` is for the documentation. Opt-in types reach only endpoints that name them. */
interface About {
  readonly meaning: string;
  readonly optIn: boolean;
}

const told = (meaning: string): About => ({ meaning, optIn: false });
const onRequest = (meaning: string): About => ({ meaning, optIn: true });

/**
 * Every event a webhook endpoint can ask for. WEBHOOK_TEST is not among them, because it goes to
 * the one endpoint that is being tested.
 */
export const eventTypes: Readonly<Record<EventType, About>> = {
  KYC_COMPLETED: told("The verification succeeded: the applicant is verified."),
  KYC_REJECTED: told("The check failed; reason_codes says why."),
  KYC_NEEDS_REVIEW: told("A person has to decide. Not an approval."),
  KYC_REVIEW_RESOLVED: told("A review was decided; the verdict is final."),
  KYC_FAILED: told(
    "The verification itself failed, not the applicant, who may try again on the same link while attempts remain.",
  ),
  KYC_EXPIRED: told("The link lapsed unused. Create a new application."),
  KYC_CANCELED: onRequest("The application was cancelled."),
  KYC_DOCUMENT_EXPIRING: onRequest("The document of an approved application expires in 30 or in 7 days."),
  KYC_DOCUMENT_EXPIRED: onRequest("The document of an approved application has expired."),
  PAYMENT_COMPLETED: told("The card holder paid."),
  PAYMENT_REFUSED: told("The card was refused."),
  PAYMENT_FAILED: told("The payment could not be taken."),
  PAYMENT_CANCELED: told("The card holder gave up."),
  PAYMENT_EXPIRED: told("Nobody paid in time."),
  PAYMENT_REFUNDED: told("A refund succeeded."),
  WEBHOOK_ENDPOINT_DISABLED: onRequest(
    "Another endpoint of yours was disabled: it answered 410, or nothing but failures came of it for five days.",
  ),
};

export const eventTypeNames = Object.keys(eventTypes) as EventType[];

/** What an endpoint receives that names no types. */
export const defaultEventTypeNames: readonly EventType[] = eventTypeNames.filter((name) => !eventTypes[name].optIn);

/** What the log of events may have. */
export const eventLogTypes = [...eventTypeNames, "WEBHOOK_TEST"] as const;

export const isEventType = (text: string): text is EventType => Object.hasOwn(eventTypes, text);
