import type { EnumName } from "@amana/contracts/enum-names";
import type { KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import type { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";

/** Events of intermediate steps, which are published to services but not to businesses. */
type InternalStep = "KYC_CREATED" | "KYC_OPENED" | "KYC_SUBMITTED" | "KYC_PROCESSING";

export type EventType =
  | EnumName<typeof PaymentEventType>
  | Exclude<EnumName<typeof KycEventType>, InternalStep>
  | "WEBHOOK_ENDPOINT_DISABLED";

interface EventDescription {
  /** Sentence for the documentation. */
  readonly meaning: string;
  /** True if only endpoints that list this type receive its events. */
  readonly optIn: boolean;
}

const byDefault = (meaning: string): EventDescription => ({ meaning, optIn: false });
const optIn = (meaning: string): EventDescription => ({ meaning, optIn: true });

/**
 * The event types that a webhook endpoint can select. WEBHOOK_TEST and WEBHOOK_CHECK are not among
 * them: they are always sent to the tested endpoint.
 */
export const eventTypes: Readonly<Record<EventType, EventDescription>> = {
  KYC_COMPLETED: byDefault("The verification succeeded, and the applicant is verified."),
  KYC_REJECTED: byDefault("The applicant was rejected. `reason_codes` contains the reasons."),
  KYC_NEEDS_REVIEW: byDefault("The verification needs a review by a person. It is not approved."),
  KYC_REVIEW_RESOLVED: byDefault("A person decided the review, and the verdict is final."),
  KYC_FAILED: byDefault(
    "The verification failed for a technical reason. The applicant can use the same link again while attempts remain.",
  ),
  KYC_EXPIRED: byDefault("The link expired without a completed verification. Create a new application."),
  KYC_CANCELED: optIn("The application was canceled."),
  KYC_DOCUMENT_EXPIRING: optIn("The document of an approved application expires in 30 or in 7 days."),
  KYC_DOCUMENT_EXPIRED: optIn("The document of an approved application has expired."),
  PAYMENT_COMPLETED: byDefault("The card holder paid."),
  PAYMENT_REFUSED: byDefault("The card was declined."),
  PAYMENT_FAILED: byDefault("The payment failed."),
  PAYMENT_CANCELED: byDefault("The card holder canceled the payment."),
  PAYMENT_EXPIRED: byDefault("The card holder did not pay in time."),
  PAYMENT_REFUNDED: byDefault("A refund succeeded."),
  PAYMENT_LINK_COMPLETED: optIn("A payment link was paid as often as its `max_payments` permits, and accepts no more payments."),
  WEBHOOK_ENDPOINT_DISABLED: optIn(
    "Another endpoint of your business was disabled, because it returned 410 or all attempts failed for five days.",
  ),
};

export const eventTypeNames = Object.keys(eventTypes) as EventType[];

/** The event types that an endpoint receives if it selects no types. */
export const defaultEventTypeNames: readonly EventType[] = eventTypeNames.filter((name) => !eventTypes[name].optIn);

/** The event types of the event log. */
export const eventLogTypes = [...eventTypeNames, "WEBHOOK_TEST"] as const;

export const isEventType = (text: string): text is EventType => Object.hasOwn(eventTypes, text);
