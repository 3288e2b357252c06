import { enumNames } from "@amana/contracts/enum-names";
import { WebhookReplaySchema, WebhookReplayStatus } from "@amana/contracts/webhooks/v1/webhook_replay_pb";
import { Type } from "typebox";
import { renderer } from "./renderer.ts";

export const WebhookReplayJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  status: Type.Enum(enumNames(WebhookReplayStatus)),
  matched: Type.Integer({ description: "Deliveries that the filter names; while it is RUNNING they may still be counted." }),
  sent: Type.Integer({ description: "Those of them that were started anew." }),
});

export const renderWebhookReplay = renderer(WebhookReplaySchema, WebhookReplayJson);
