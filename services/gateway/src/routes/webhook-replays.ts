import { deliveryStatuses, eventLogTypes, renderWebhookReplay, WebhookReplayJson } from "@amana/public-api";
import { Type } from "typebox";
import { choice, distinct, timestamp } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addCreateRoute, addReadRoute } from "../operations.ts";

const replay = { tag: "Webhooks", response: WebhookReplayJson, render: renderWebhookReplay } as const;

const oneOrMore = <const T extends string>(values: readonly T[], description: string) =>
  distinct(choice(values), `must be a list of one or more of ${values.join(", ")}, each once`, { minItems: 1, description });

export async function webhookReplays(app: App, { rpc: { webhookEndpoints: rpc } }: Gateway): Promise<void> {
  addCreateRoute(app, "/:id/replay", {
    ...replay,
    rpc: rpc.replayWebhookEndpoint,
    status: 202,
    summary: "Replay a webhook endpoint",
    description:
      "Starts the deliveries of past events to this endpoint again. The filters select existing deliveries; an event without " +
      "a delivery to the endpoint is in `GET /events` only. The replay runs in the background, oldest event first and at the " +
      "rate that the endpoint accepts, and does not delay new events. An endpoint has one replay at a time (409 " +
      "`replay_in_progress`). The replay ends early when the endpoint is disabled.",
    body: {
      since: timestamp({
        description: "Start of the range of event times, inclusive. Events are stored for 30 days.",
        examples: ["2025-01-01T00:00:00Z"],
      }),
      // No example, because a fixed time would be rejected once it is older than the stored events.
      until: Type.Optional(
        timestamp({
          description: "End of the range of event times, exclusive; the current time by default.",
          examples: undefined,
        }),
      ),
      types: Type.Optional(oneOrMore(eventLogTypes, "Event types; all by default.")),
      statuses: Type.Optional(
        oneOrMore(
          deliveryStatuses,
          "Statuses of the deliveries; `skipped` and `failed` by default. `pending` starts the next attempt now.",
        ),
      ),
    },
    location: ({ id }, { params }) => `${app.prefix}/${(params as { id: string }).id}/replays/${id}`,
  });

  addReadRoute(app, "/:id/replays/:replay_id", {
    ...replay,
    rpc: rpc.getWebhookReplay,
    summary: "Get a replay",
    description:
      "Returns the progress of a replay. It is DONE when all deliveries were started again or the endpoint was disabled. Read " +
      "the result of each delivery with `GET /events/{id}/deliveries`.",
  });
}
