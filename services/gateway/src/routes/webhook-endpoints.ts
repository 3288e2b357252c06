import type { Delivery, Event } from "@amana/contracts/webhooks/v1/event_pb";
import {
  eventTypeNames,
  renderTestEvent,
  renderWebhookCheck,
  renderWebhookEndpoint,
  TestEventJson,
  WebhookCheckJson,
  WebhookEndpointCreation,
  WebhookEndpointFields,
  WebhookEndpointJson,
  WebhookEndpointUpdate,
  WebhookEndpointWithHealth,
  webhookEndpointStatuses,
} from "@amana/public-api";
import { Type } from "typebox";
import { requireRotation } from "../form/body.ts";
import { clearable } from "../form/field.ts";
import { choice, distinct, flag, integer, text } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addActionRoute, addChangeRoute, addCreateRoute, addDeleteRoute, addListRoute, addReadRoute } from "../operations.ts";

/** Timeout of RPCs that check a URL. The check resolves the host name of the URL. */
const urlCheckTimeoutMs = 15_000;
/**
 * Timeout of the RPC that checks a receiver. The check waits for two responses of the receiver, one
 * after the other, at most 5 s each.
 */
const receiverCheckTimeoutMs = 15_000;
/**
 * Maximum length of a URL that the gateway forwards. The webhooks service has a lower limit with
 * its own problem code.
 */
const urlCharactersMax = 8_192;
const activateInSecondsMax = 24 * 60 * 60;
const urlRule =
  "URL that receives the webhooks: absolute, https, with a public host, at most 2048 characters, without credentials and " +
  "fragment. A development system also accepts http and loopback addresses.";

const endpoint = { tag: "Webhooks", response: WebhookEndpointJson, render: renderWebhookEndpoint } as const;

// The webhooks service validates URLs, because it connects to them and has precise problem codes.
const url = () =>
  text(urlCharactersMax, {
    format: "web-address",
    description: urlRule,
    examples: ["https://shop.example/webhooks/amana"],
  });
const events = () =>
  distinct(choice(eventTypeNames), `must be a list of different event types of ${eventTypeNames.join(", ")}`, {
    description: "Event types that the endpoint receives. An empty list selects the default: all types except the opt-in ones.",
  });

export async function webhookEndpoints(app: App, { rpc: { webhookEndpoints: rpc } }: Gateway): Promise<void> {
  addCreateRoute(app, "", {
    ...endpoint,
    rpc: rpc.createWebhookEndpoint,
    timeoutMs: urlCheckTimeoutMs,
    summary: "Register a webhook endpoint",
    description:
      "Registers a URL that receives webhooks. Only this response contains the signing `secret`; store it. Fails with 422 for " +
      "a URL that is not allowed and with 409 `webhook_endpoint_limit_reached` for more than 20 endpoints.",
    body: { url: url(), events: Type.Optional(events()) },
    response: WebhookEndpointCreation,
  });

  addListRoute(app, "", {
    ...endpoint,
    rpc: rpc.listWebhookEndpoints,
    summary: "List webhook endpoints",
    description: "Returns the webhook endpoints of your business, newest first.",
  });

  addReadRoute(app, "/:id", {
    ...endpoint,
    rpc: rpc.getWebhookEndpoint,
    summary: "Get a webhook endpoint",
    description: "Returns a webhook endpoint with the health of its deliveries.",
    response: WebhookEndpointWithHealth,
  });

  addChangeRoute(app, "PATCH", "/:id", {
    ...endpoint,
    rpc: rpc.updateWebhookEndpoint,
    timeoutMs: urlCheckTimeoutMs,
    summary: "Update a webhook endpoint",
    description:
      "Changes the fields in the request. Absent fields stay unchanged; null or an empty list in `events` restores the " +
      "default types. `rotate_secret` replaces the signing secret, and only this response contains the new one. For one day " +
      "after the rotation, `webhook-signature` contains a signature with each of the two secrets. A change takes effect " +
      "within three seconds.",
    body: {
      url: url(),
      rotate_secret: flag("Whether to replace the signing secret. The response contains the new `secret`."),
      activate_in_seconds: integer(0, activateInSecondsMax, {
        description:
          "Seconds for which `X-Signature` still uses the old secret, so that the receiver can be configured first; 0 by " +
          "default. Requires `rotate_secret`.",
      }),
      status: choice(webhookEndpointStatuses),
      events: clearable(events()),
    },
    response: WebhookEndpointUpdate,
    resource: WebhookEndpointFields,
    execute: async ({ events, ...fields }, { send }) => {
      requireRotation(fields, "activate_in_seconds", "rotate_secret");
      return await send({ ...fields, events: events === undefined ? undefined : { types: events ?? [] } });
    },
  });

  addDeleteRoute(app, "/:id", {
    ...endpoint,
    rpc: rpc.deleteWebhookEndpoint,
    summary: "Delete a webhook endpoint",
    description: "Deletes a webhook endpoint. Its pending deliveries are dropped.",
  });

  addActionRoute(app, "/:id/test", {
    ...endpoint,
    rpc: rpc.testWebhookEndpoint,
    summary: "Send a test event",
    description:
      "Sends an event WEBHOOK_TEST to this endpoint only, independent of its event types. The event is stored, delivered and " +
      "retried like any other. The response does not wait for the delivery; read its attempts with " +
      "`GET /events/{id}/deliveries`.",
    response: TestEventJson,
    render: ({ event, delivery }) => renderTestEvent(event as Event, delivery as Delivery),
  });

  addActionRoute(app, "/:id/check", {
    ...endpoint,
    rpc: rpc.checkWebhookEndpoint,
    timeoutMs: receiverCheckTimeoutMs,
    summary: "Check a webhook endpoint",
    description:
      "Tests the receiver with four events of the type WEBHOOK_CHECK and waits at most 5 seconds for each response. The " +
      "receiver must respond with 2xx to a `good` event and its `duplicate`, and must reject one with a `forged_signature` " +
      "and one with an `old_timestamp`. The events are not stored, retried or counted in the health of the endpoint. Fails " +
      "with 409 `endpoint_checked_recently` within ten seconds of the last check.",
    response: Type.Object({ checks: Type.Array(WebhookCheckJson) }),
    render: ({ checks }) => ({ checks: checks.map(renderWebhookCheck) }),
  });
}
