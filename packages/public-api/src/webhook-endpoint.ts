import { enumNames, lowerCaseNames } from "@amana/contracts/enum-names";
import {
  WebhookEndpointHealthSchema,
  WebhookEndpointSchema,
  WebhookEndpointStatus,
} from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { WebhookCheckName, WebhookCheckSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { WebhookReplaySchema, WebhookReplayStatus } from "@amana/contracts/webhooks/v1/webhook_replay_pb";
import { Type } from "typebox";
import { defaultEventTypeNames } from "./event-types.ts";
import { renderer } from "./renderer.ts";

export const webhookEndpointStatuses = enumNames(WebhookEndpointStatus);

const rate = (time: string) =>
  Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: `The part of the last ${time}'s attempts that succeeded; absent without any.`,
    }),
  );

const HealthJson = Type.Object(
  {
    failing_since: Type.Optional(
      Type.String({
        format: "date-time",
        description: "Since when every attempt has failed; five days of it disable the endpoint.",
      }),
    ),
    success_rate_1h: rate("hour"),
    success_rate_24h: rate("day"),
    last_error: Type.Optional(
      Type.String({
        description: "Of the newest attempt that failed within a day: the code of its `error`, or `http_` and the status.",
        examples: ["timeout", "http_500"],
      }),
    ),
    p95_ms_24h: Type.Optional(
      Type.Integer({ description: "95 of 100 attempts of the last day took no longer, estimated to a fifth, in milliseconds." }),
    ),
  },
  {
    description:
      "How deliveries to it went. Attempts count after a few seconds, and the edges of hour and day are five minutes wide.",
  },
);

export const WebhookEndpointFields = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  url: Type.String({ examples: ["https://shop.example/webhooks/amana"] }),
  status: Type.Enum(webhookEndpointStatuses),
  events: Type.Array(Type.String(), {
    description: "Event types it receives, written out also when it has the default: all but the opt-in ones.",
  }),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  secret: Type.Optional(Type.String({ description: "The signing secret, only in the answer that makes it." })),
  health: Type.Optional(HealthJson),
});

/** Where one is read. */
export const WebhookEndpointWithHealth = Type.Omit(WebhookEndpointFields, ["secret"]);
export const WebhookEndpointJson = Type.Omit(WebhookEndpointFields, ["secret", "health"]);
export const WebhookEndpointCreation = Type.Omit(WebhookEndpointFields, ["updated_at", "health"]);
export const WebhookEndpointUpdate = Type.Omit(WebhookEndpointFields, ["created_at", "health"]);

const renderHealth = renderer(WebhookEndpointHealthSchema, HealthJson);

/** An endpoint with every public field; the schema of each answer chooses among them. */
export const renderWebhookEndpoint = renderer(WebhookEndpointSchema, WebhookEndpointFields, {
  // Stored empty, so that a type which is added later reaches endpoints that never chose.
  events: ({ events }) => (events.length > 0 ? events : defaultEventTypeNames),
  health: ({ health }) => health && renderHealth(health),
});

/** What an endpoint did with one of the events of a check. */
export const WebhookCheckJson = Type.Object({
  name: Type.Enum(lowerCaseNames(WebhookCheckName)),
  passed: Type.Boolean(),
  detail: Type.String({ description: "What it answered, and what to do about it.", examples: ["answered 204 in 35 ms"] }),
});
export const renderWebhookCheck = renderer(WebhookCheckSchema, WebhookCheckJson);

export const WebhookReplayJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  status: Type.Enum(enumNames(WebhookReplayStatus)),
  matched: Type.Integer({ description: "Deliveries that the filter names; while it is RUNNING they may still be counted." }),
  sent: Type.Integer({ description: "Those of them that were started anew." }),
});
export const renderWebhookReplay = renderer(WebhookReplaySchema, WebhookReplayJson);
