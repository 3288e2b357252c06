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
import { createRenderer } from "./renderer.ts";

export const webhookEndpointStatuses = enumNames(WebhookEndpointStatus);

const rate = (time: string) =>
  Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: `Share of successful attempts in the last ${time}, from 0 to 1. Absent without attempts.`,
    }),
  );

const HealthJson = Type.Object(
  {
    failing_since: Type.Optional(
      Type.String({
        format: "date-time",
        description: "Time since which all attempts have failed. After five days the endpoint is disabled.",
      }),
    ),
    success_rate_1h: rate("hour"),
    success_rate_24h: rate("day"),
    last_error: Type.Optional(
      Type.String({
        description: "Newest error in the last day: the `error` of the attempt, or `http_` with the status.",
        examples: ["timeout", "http_500"],
      }),
    ),
    p95_ms_24h: Type.Optional(
      Type.Integer({
        description: "95th percentile of the attempt durations in the last day, in milliseconds, with an error of up to 20 %.",
      }),
    ),
  },
  {
    description:
      "Health of the deliveries to the endpoint. Attempts are included after a few seconds. The periods of an hour " +
      "and a day are exact to five minutes.",
  },
);

export const WebhookEndpointFields = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  url: Type.String({ examples: ["https://shop.example/webhooks/amana"] }),
  status: Type.Enum(webhookEndpointStatuses),
  events: Type.Array(Type.String(), {
    description: "Event types that the endpoint receives. The default is all types except the opt-in ones.",
  }),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  secret: Type.Optional(Type.String({ description: "Signing secret; only in the response that creates it." })),
  health: Type.Optional(HealthJson),
});

/** Schema of the response to a read of one endpoint. */
export const WebhookEndpointWithHealth = Type.Omit(WebhookEndpointFields, ["secret"]);
export const WebhookEndpointJson = Type.Omit(WebhookEndpointFields, ["secret", "health"]);
export const WebhookEndpointCreation = Type.Omit(WebhookEndpointFields, ["updated_at", "health"]);
export const WebhookEndpointUpdate = Type.Omit(WebhookEndpointFields, ["created_at", "health"]);

const renderHealth = createRenderer(WebhookEndpointHealthSchema, HealthJson);

/**
 * Renders an endpoint with all public fields. The response schema of each operation drops the
 * fields that it does not list.
 */
export const renderWebhookEndpoint = createRenderer(WebhookEndpointSchema, WebhookEndpointFields, {
  // An empty list means the default types, so that the endpoint also receives types that are added
  // later.
  events: ({ events }) => (events.length > 0 ? events : defaultEventTypeNames),
  health: ({ health }) => health && renderHealth(health),
});

/** Schema of the result for one of the events in an endpoint check. */
export const WebhookCheckJson = Type.Object({
  name: Type.Enum(lowerCaseNames(WebhookCheckName)),
  passed: Type.Boolean({ description: "Whether the endpoint responded as required." }),
  detail: Type.String({
    description: "Response of the endpoint, and the necessary change if the check failed.",
    examples: ["returned 204 in 35 ms"],
  }),
});
export const renderWebhookCheck = createRenderer(WebhookCheckSchema, WebhookCheckJson);

export const WebhookReplayJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  status: Type.Enum(enumNames(WebhookReplayStatus)),
  matched: Type.Integer({
    description: "Number of deliveries that match the filters. It can still grow while the status is RUNNING.",
  }),
  sent: Type.Integer({ description: "Number of matching deliveries that were started again." }),
});
export const renderWebhookReplay = createRenderer(WebhookReplaySchema, WebhookReplayJson);
