import { ListWebhookEndpointsRequestSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { defineList } from "@amana/database";
import { webhookEndpointView } from "./webhook-endpoint.message.ts";

export const webhookEndpointList = defineList(webhookEndpointView, ListWebhookEndpointsRequestSchema, {});
