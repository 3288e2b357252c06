import {
  BareEventJson,
  EndpointDisabledEventJson,
  type EventType,
  eventTypeNames,
  eventTypes,
  KycEventJson,
  PaymentEventJson,
} from "@amana/public-api";

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
  header(
    "webhook-signature",
    "`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, keyed with the 32 bytes that the part of the secret behind `whsec_` stands for in base64; two of them, parted by a space, during a rotation (Standard Webhooks). Refuse a timestamp more than 300 seconds from your clock. A test vector and verification in four languages: /docs/guide/webhooks.",
  ),
];

const promise = "At least once, in no particular order; eight attempts over a day.";

function webhook(name: string, description: string, schema: object): [name: string, item: object] {
  const post = {
    tags: ["Webhooks"],
    operationId: `on_${name.toLowerCase()}`,
    summary: name,
    description,
    security: [],
    parameters,
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: { "2XX": { description: "Anything from 200 to 299 within 10 seconds: taken." } },
  };
  return [name, { post }];
}

function bodyOf(type: EventType) {
  if (type === "WEBHOOK_ENDPOINT_DISABLED") return EndpointDisabledEventJson;
  return type.startsWith("KYC_") ? KycEventJson : PaymentEventJson;
}

/** The events as webhooks of an OpenAPI 3.1 document: what a business's endpoints are sent. */
export function describeWebhooks(): Record<string, object> {
  const asked = eventTypeNames.map((name) => {
    const { meaning, optIn } = eventTypes[name];
    return webhook(name, `${meaning}${optIn ? " Only for endpoints that ask for it." : ""} ${promise}`, bodyOf(name));
  });
  const test = webhook("WEBHOOK_TEST", `You tested the endpoint. No other one is told. ${promise}`, BareEventJson);
  const checked = "You asked for a check of the endpoint: some of these must be refused. Never kept and never sent again.";
  const check = webhook("WEBHOOK_CHECK", checked, BareEventJson);
  return Object.fromEntries([...asked, test, check]);
}
