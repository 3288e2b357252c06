import { type EventType, eventTypeNames, eventTypes, KycEventJson, PaymentEventJson } from "@amana/public-api";

/** When each event comes, and what it means for the business. */
const meanings: Record<EventType, string> = {
  KYC_COMPLETED: "The verification succeeded: the applicant is verified.",
  KYC_REJECTED: "The check failed; reason_codes says why.",
  KYC_NEEDS_REVIEW: "A person has to decide. Not an approval.",
  KYC_REVIEW_RESOLVED: "A review was decided; the verdict is final.",
  KYC_FAILED: "The verification itself failed, not the applicant, who may try again on the same link while attempts remain.",
  KYC_EXPIRED: "The link lapsed unused. Create a new application.",
  KYC_CANCELED: "The application was cancelled.",
  KYC_DOCUMENT_EXPIRING: "The document of an approved application expires in 30 or in 7 days.",
  KYC_DOCUMENT_EXPIRED: "The document of an approved application has expired.",
  PAYMENT_COMPLETED: "The card holder paid.",
  PAYMENT_REFUSED: "The card was refused.",
  PAYMENT_FAILED: "The payment could not be taken.",
  PAYMENT_CANCELED: "The card holder gave up.",
  PAYMENT_EXPIRED: "Nobody paid in time.",
  PAYMENT_REFUNDED: "A refund succeeded.",
};

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
});

const parameters = [
  header("X-Signature", "sha256= and the hexadecimal HMAC-SHA256 of the raw body, keyed with the whole secret."),
  header("X-Webhook-Event", "The type of the event."),
  header("webhook-id", "The event's id (Standard Webhooks)."),
  header("webhook-timestamp", "Unix seconds of this attempt (Standard Webhooks)."),
  header("webhook-signature", "v1, and the base64 HMAC-SHA256 of id.timestamp.body; two during a rotation (Standard Webhooks)."),
];

/** The events as webhooks of an OpenAPI 3.1 document: what is sent to the endpoints of a business. */
export function describeWebhooks(): Record<string, object> {
  return Object.fromEntries(
    eventTypeNames.map((name) => {
      const schema = name.startsWith("KYC_") ? KycEventJson : PaymentEventJson;
      const asked = eventTypes[name].optIn ? " Only for endpoints that ask for it." : "";
      const post = {
        tags: ["Webhooks"],
        operationId: `on_${name.toLowerCase()}`,
        summary: name,
        description: `${meanings[name]}${asked} At least once, in no particular order; eight attempts over a day.`,
        security: [],
        parameters,
        requestBody: { required: true, content: { "application/json": { schema } } },
        responses: { "2XX": { description: "Anything from 200 to 299 within 10 seconds: taken." } },
      };
      return [name, { post }];
    }),
  );
}
