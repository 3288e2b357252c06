/**
 * Every event a webhook endpoint can ask for, and whether it has to: opt-in types reach only endpoints that name
 * them. WEBHOOK_TEST is not among them, because it goes to the one endpoint that is being tested.
 */
export const eventTypes = {
  KYC_COMPLETED: { optIn: false },
  KYC_REJECTED: { optIn: false },
  KYC_NEEDS_REVIEW: { optIn: false },
  KYC_REVIEW_RESOLVED: { optIn: false },
  KYC_FAILED: { optIn: false },
  KYC_EXPIRED: { optIn: false },
  KYC_CANCELED: { optIn: true },
  KYC_DOCUMENT_EXPIRING: { optIn: true },
  KYC_DOCUMENT_EXPIRED: { optIn: true },
  PAYMENT_COMPLETED: { optIn: false },
  PAYMENT_REFUSED: { optIn: false },
  PAYMENT_FAILED: { optIn: false },
  PAYMENT_CANCELED: { optIn: false },
  PAYMENT_EXPIRED: { optIn: false },
  PAYMENT_REFUNDED: { optIn: false },
} as const satisfies Record<string, { optIn: boolean }>;

export type EventType = keyof typeof eventTypes;

export const eventTypeNames = Object.keys(eventTypes) as EventType[];

/** What an endpoint receives that names no types. */
export const defaultEventTypeNames: readonly EventType[] = eventTypeNames.filter((name) => !eventTypes[name].optIn);

export const isEventType = (text: string): text is EventType => Object.hasOwn(eventTypes, text);
