/** What a receiver must do with an event, and what to tell whoever wrote it when it does not. */
export interface ReceiverExpectation {
  readonly must: "take" | "refuse";
  /** When it did the other thing. */
  readonly advice: string;
  /** When no answer came within five seconds. */
  readonly silence: string;
}

const quickly = "Answer 2xx within 5 s, and do what takes longer afterwards.";
const unknown = "So it is not known whether it refuses such an event.";

export const receiverExpectations = {
  good: {
    must: "take",
    advice: "This event was genuine: answer 2xx. Redirects are not followed.",
    silence: quickly,
  },
  forged: {
    must: "refuse",
    advice:
      "It accepts forged events: this one was signed with another secret. Verify webhook-signature or X-Signature over the raw " +
      "body before anything else, and answer 401.",
    silence: unknown,
  },
  duplicate: {
    must: "take",
    advice: "It had this event already, and refused it. Deliveries come at least once: answer 2xx, and do nothing twice.",
    silence: quickly,
  },
  old: {
    must: "refuse",
    advice:
      "It accepts an event whose webhook-timestamp is an hour old, so whoever records one can send it again. X-Signature does " +
      "not cover the time: verify webhook-signature, and refuse a webhook-timestamp more than 5 minutes from your clock.",
    silence: unknown,
  },
} as const satisfies Readonly<Record<string, ReceiverExpectation>>;
