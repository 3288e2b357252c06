export { createWebhookEndpoint } from "./create-webhook-endpoint.ts";
export { deleteWebhookEndpoint } from "./delete-webhook-endpoint.ts";
export { getWebhookEndpoint } from "./get-webhook-endpoint.ts";
export { listDeliveries } from "./list-deliveries.ts";
export { getEvent, listEvents, listWebhookEndpoints } from "./reads.ts";
export { redeliverEvent } from "./redeliver-event.ts";
export { testWebhookEndpoint } from "./test-webhook-endpoint.ts";
export { updateWebhookEndpoint } from "./update-webhook-endpoint.ts";
