import { WebhookReplaySchema } from "@amana/contracts/webhooks/v1/webhook_replay_pb";
import { defineView } from "@amana/database";
import { WebhookReplay } from "./webhook-replay.ts";

/** Reads a replay whose endpoint exists. The replays of a deleted endpoint are stored longer. */
export const webhookReplayView = defineView(WebhookReplay, WebhookReplaySchema, {
  columns: ["endpointId"],
  where: "exists (select from webhook_endpoint e where e.id = webhook_replay.endpoint_id)",
});
