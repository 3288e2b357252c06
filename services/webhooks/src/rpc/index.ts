export { checkWebhookEndpoint } from "./check-webhook-endpoint.ts";
export { createWebhookEndpoint } from "./create-webhook-endpoint.ts";
export { deleteWebhookEndpoint } from "./delete-webhook-endpoint.ts";
export { listEventsOfPayment } from "./list-events-of-payment.ts";
export { getEvent, getWebhookEndpoint, getWebhookReplay, listDeliveries, listEvents, listWebhookEndpoints } from "./reads.ts";
export { redeliverEvent } from "./redeliver-event.ts";
export { replayWebhookEndpoint } from "./replay-webhook-endpoint.ts";
export { testWebhookEndpoint } from "./test-webhook-endpoint.ts";
export { updateWebhookEndpoint } from "./update-webhook-endpoint.ts";
