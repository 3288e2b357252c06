import { WebhookReplaySchema } from "@amana/contracts/webhooks/v1/webhook_replay_pb";
import { defineView } from "@amana/database";
import { WebhookReplay } from "./webhook-replay.ts";

export const webhookReplayView = defineView(WebhookReplay, WebhookReplaySchema, { columns: ["endpointId"] });
