import { WebhookCheckName, WebhookCheckSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { Type } from "typebox";
import { lowerCaseNames } from "./lower-case-names.ts";
import { renderer } from "./renderer.ts";

export const WebhookCheckJson = Type.Object({
  name: Type.Enum(lowerCaseNames(WebhookCheckName)),
  passed: Type.Boolean(),
  detail: Type.String({ description: "What it answered, and what to do about it.", examples: ["answered 204 in 35 ms"] }),
});

export const renderWebhookCheck = renderer(WebhookCheckSchema, WebhookCheckJson);
