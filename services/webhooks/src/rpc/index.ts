import { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { type ServedService, serve } from "@amana/rpc";
import type { Context } from "../context.ts";
import { createWebhookEndpoint } from "./create-webhook-endpoint.ts";
import { deleteWebhookEndpoint } from "./delete-webhook-endpoint.ts";
import { getEvent } from "./get-event.ts";
import { getWebhookEndpoint } from "./get-webhook-endpoint.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { listEvents } from "./list-events.ts";
import { listWebhookEndpoints } from "./list-webhook-endpoints.ts";
import { redeliverEvent } from "./redeliver-event.ts";
import { updateWebhookEndpoint } from "./update-webhook-endpoint.ts";

export const rpcServices = (context: Context): ServedService[] => [
  serve(WebhookEndpointService, {
    createWebhookEndpoint: createWebhookEndpoint(context),
    getWebhookEndpoint: getWebhookEndpoint(context),
    listWebhookEndpoints: listWebhookEndpoints(context),
    updateWebhookEndpoint: updateWebhookEndpoint(context),
    deleteWebhookEndpoint: deleteWebhookEndpoint(context),
  }),
  serve(EventService, {
    listEvents: listEvents(context),
    getEvent: getEvent(context),
    listDeliveries: listDeliveries(context),
    redeliverEvent: redeliverEvent(context),
  }),
];
