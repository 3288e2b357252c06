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
  header("X-Signature", "`sha256=` and the hexadecimal HMAC-SHA256 of the raw body. The key is the complete secret."),
  header("X-Webhook-Event", "Type of the event."),
  header("webhook-id", "Id of the event (Standard Webhooks)."),
  header("webhook-timestamp", "Time of the attempt in Unix seconds (Standard Webhooks)."),
  header(
    "webhook-signature",
    "`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the base64-decoded part of the secret after `whsec_` (32 bytes). During a rotation the header has two signatures, separated by a space (Standard Webhooks). Reject a timestamp that differs from your clock by more than 300 seconds. `/docs/guide/webhooks` has a test vector and code in four languages.",
  ),
];

const guarantee = "Delivered at least once, in any order, with up to eight attempts in a day.";

function webhook(name: string, description: string, schema: object): [name: string, item: object] {
  const post = {
    tags: ["Webhooks"],
    operationId: `on_${name.toLowerCase()}`,
    summary: name,
    description,
    security: [],
    parameters,
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: { "2XX": { description: "Any status from 200 to 299 within 10 seconds confirms the delivery." } },
  };
  return [name, { post }];
}

function bodyOf(type: EventType) {
  if (type === "WEBHOOK_ENDPOINT_DISABLED") return EndpointDisabledEventJson;
  return type.startsWith("KYC_") ? KycEventJson : PaymentEventJson;
}

/** Returns the events as webhooks of an OpenAPI 3.1 document. */
export function describeWebhooks(): Record<string, object> {
  const selectableWebhooks = eventTypeNames.map((name) => {
    const { meaning, optIn } = eventTypes[name];
    return webhook(
      name,
      `${meaning}${optIn ? " Opt-in: sent only to endpoints that list it in `events`." : ""} ${guarantee}`,
      bodyOf(name),
    );
  });
  const testWebhook = webhook("WEBHOOK_TEST", `Test event, sent only to the tested endpoint. ${guarantee}`, BareEventJson);
  const checkDescription =
    "Event of a check of the endpoint. The receiver must reject an event with an invalid signature or an old timestamp. The events of a check are not stored or retried.";
  const checkWebhook = webhook("WEBHOOK_CHECK", checkDescription, BareEventJson);
  return Object.fromEntries([...selectableWebhooks, testWebhook, checkWebhook]);
}
