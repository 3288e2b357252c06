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
import { onlyInRotation } from "../form/body.ts";
import { clearable } from "../form/field.ts";
import { choice, distinct, flag, integer, text } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { act, change, create, list, read, remove } from "../operations.ts";

/** Checking an address resolves its name. */
const urlCheckTimeoutMs = 15_000;
/** Two answers of a receiver, one after the other, of 5 s each. */
const receiverCheckTimeoutMs = 15_000;
/** A bound for what is passed on. The service refuses shorter ones, in its own words. */
const urlCharactersMax = 8_192;
const activateInSecondsMax = 24 * 60 * 60;
const urlRule =
  "Absolute, https, public, at most 2048 characters, without credentials and without a fragment. A development system also " +
  "takes http and this machine's own addresses.";

const endpoint = { tags: ["Webhook endpoints"], answer: WebhookEndpointJson, render: renderWebhookEndpoint };

// Which addresses are good is for the service to say, which also connects to them: one judge, with
// precise codes.
const url = () =>
  text(urlCharactersMax, {
    format: "web-address",
    description: urlRule,
    examples: ["https://shop.example/webhooks/amana"],
  });
const events = () =>
  distinct(choice(eventTypeNames), `must be a list of different event types among ${eventTypeNames.join(", ")}`, {
    description: "Event types it is to receive. Empty means the default: all but the opt-in ones.",
  });

export async function webhookEndpoints(app: App, { rpc: { webhookEndpoints: rpc } }: Gateway): Promise<void> {
  create(app, "", {
    ...endpoint,
    rpc: rpc.createWebhookEndpoint,
    timeoutMs: urlCheckTimeoutMs,
    summary: "Register a webhook endpoint",
    description:
      "The answer carries the signing `secret`, once. Without `events`, or with an empty list: all but the opt-in ones.",
    body: { url: url(), events: Type.Optional(events()) },
    answer: WebhookEndpointCreation,
  });

  list(app, "", { ...endpoint, rpc: rpc.listWebhookEndpoints, summary: "List webhook endpoints, newest first" });

  read(app, "/:id", {
    ...endpoint,
    rpc: rpc.getWebhookEndpoint,
    summary: "Read a webhook endpoint, with how deliveries to it went",
    answer: WebhookEndpointWithHealth,
  });

  change(app, "PATCH", "/:id", {
    ...endpoint,
    rpc: rpc.updateWebhookEndpoint,
    timeoutMs: urlCheckTimeoutMs,
    summary: "Change a webhook endpoint, rotate its secret",
    description:
      "`events` null or an empty list brings back the default: all but the opt-in ones. `activate_in_seconds` goes with `rotate_secret: true` only: X-Signature goes on with the old secret for that long, so that the receiver can learn the new one first. For a day after the rotation webhook-signature has a signature by each of the two. A change may be late by up to three seconds.",
    body: {
      url: url(),
      rotate_secret: flag(),
      activate_in_seconds: integer(0, activateInSecondsMax),
      status: choice(webhookEndpointStatuses),
      events: clearable(events()),
    },
    answer: WebhookEndpointUpdate,
    whole: WebhookEndpointFields,
    ask: async ({ events, ...fields }, { send }) => {
      onlyInRotation(fields, "activate_in_seconds", "rotate_secret");
      return await send({ ...fields, events: events === undefined ? undefined : { types: events ?? [] } });
    },
  });

  remove(app, "/:id", {
    ...endpoint,
    rpc: rpc.deleteWebhookEndpoint,
    summary: "Delete a webhook endpoint",
    description: "Its pending deliveries are dropped.",
  });

  act(app, "/:id/test", {
    ...endpoint,
    rpc: rpc.testWebhookEndpoint,
    summary: "Send a webhook endpoint a test event",
    description:
      "A WEBHOOK_TEST to this endpoint alone, whatever types it asks for. It is kept, delivered and retried like any event; " +
      "the answer does not wait for the delivery, whose attempts GET /events/{id}/deliveries shows.",
    answer: TestEventJson,
    render: ({ event, delivery }) => renderTestEvent(event as Event, delivery as Delivery),
  });

  act(app, "/:id/check", {
    ...endpoint,
    rpc: rpc.checkWebhookEndpoint,
    timeoutMs: receiverCheckTimeoutMs,
    summary: "Check what a webhook endpoint does with genuine, forged, repeated and old events",
    description:
      "Sends it four events of type WEBHOOK_CHECK, told in X-Webhook-Event too, and waits at most 5 s for each: a `good` one " +
      "and a `duplicate` of it, which it must answer with 2xx, and one with a `forged_signature` and one with an `old_timestamp`, " +
      "which it must refuse. None is a delivery: nothing is kept, tried again, or counted in the endpoint's health. " +
      "Once in ten seconds for each endpoint.",
    answer: Type.Object({ checks: Type.Array(WebhookCheckJson) }),
    render: ({ checks }) => ({ checks: checks.map(renderWebhookCheck) }),
  });
}
