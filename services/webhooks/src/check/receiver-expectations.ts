/**
 * Required response of a receiver to one kind of event, and advice for the receiver's developer.
 */
export interface ReceiverExpectation {
  readonly must: "accept" | "reject";
  /** Advice if the receiver does not respond as required. */
  readonly advice: string;
  /** Advice if no response arrives within five seconds. */
  readonly adviceWithoutResponse: string;
}

const respondQuickly = "Respond with 2xx within 5 seconds, and do longer work afterwards.";
const resultUnknown = "The check cannot determine whether the receiver rejects such an event.";

export const receiverExpectations = {
  good: {
    must: "accept",
    advice: "This event is authentic. Respond with 2xx. Redirects are not followed.",
    adviceWithoutResponse: respondQuickly,
  },
  forged: {
    must: "reject",
    advice:
      "The receiver accepted a forged event, which was signed with another secret. Verify webhook-signature or X-Signature over " +
      "the raw body first, and respond with 401 if it does not match.",
    adviceWithoutResponse: resultUnknown,
  },
  duplicate: {
    must: "accept",
    advice:
      "The receiver rejected an event that it had already received. An event can be delivered more than once: respond with 2xx, " +
      "and process each event id once.",
    adviceWithoutResponse: respondQuickly,
  },
  old: {
    must: "reject",
    advice:
      "The receiver accepted an event with a webhook-timestamp that is an hour old, so a recorded event could be replayed. " +
      "X-Signature does not cover the time. Verify webhook-signature, and reject events whose webhook-timestamp differs from your " +
      "clock by more than 5 minutes.",
    adviceWithoutResponse: resultUnknown,
  },
} as const satisfies Readonly<Record<string, ReceiverExpectation>>;
