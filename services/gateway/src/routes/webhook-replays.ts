import { deliveryStatuses, eventLogTypes, renderWebhookReplay, WebhookReplayJson } from "@amana/public-api";
import { Type } from "typebox";
import { choice, distinct, timestamp } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { create, read } from "../operations.ts";

const replay = { tags: ["Webhook endpoints"], answer: WebhookReplayJson, render: renderWebhookReplay };

const some = <const T extends string>(words: readonly T[], description?: string) =>
  distinct(choice(words), `must be a list of one or more of ${words.join(", ")}, each once`, {
    minItems: 1,
    ...(description && { description }),
  });

export async function webhookReplays(app: App, { rpc: { webhookEndpoints: rpc } }: Gateway): Promise<void> {
  create(app, "/:id/replay", {
    ...replay,
    rpc: rpc.replayWebhookEndpoint,
    status: 202,
    summary: "Deliver again what a webhook endpoint missed",
    description:
      "Starts the deliveries to this endpoint anew whose event happened from `since` until before `until` (now, when left out): " +
      "of these `types`, or of all, and in these `statuses`, or skipped and failed ones. An event that had no delivery to this " +
      "endpoint, because the endpoint did not exist yet or had not asked for the type, is not among them: read it in GET /events. " +
      "It goes on in the background, oldest first and no faster than the endpoint takes them, so that new events need not wait. " +
      "One at a time for each endpoint; it ends early when the endpoint is disabled.",
    body: {
      since: timestamp({ description: "Events are kept for 30 days.", examples: ["2025-01-01T00:00:00Z"] }),
      // No example, because a fixed time would be rejected once it is older than the stored events.
      until: Type.Optional(timestamp({ description: "Exclusive end of the range.", examples: undefined })),
      types: Type.Optional(some(eventLogTypes)),
      statuses: Type.Optional(some(deliveryStatuses, "pending: those that wait for a later attempt, which comes now.")),
    },
    location: ({ id }, { params }) => `${app.prefix}/${(params as { id: string }).id}/replays/${id}`,
  });

  read(app, "/:id/replays/:replay_id", {
    ...replay,
    rpc: rpc.getWebhookReplay,
    summary: "Read how far a replay came",
    description: "DONE: all were started anew, or the endpoint was disabled. How each one went, its event's deliveries show.",
  });
}
