import { conflict, notFound } from "@amana/rpc";

export const eventNotFound = () => notFound("not_found", "There is no such event. Events are kept for 30 days.");

export const redeliveryEndpointNotFound = () =>
  notFound("webhook_endpoint_not_found", "There is no webhook endpoint with this endpoint_id. Check the id.", {
    pointer: "/endpoint_id",
  });

export const redeliveryEndpointDisabled = () =>
  conflict("webhook_endpoint_disabled", "The webhook endpoint is DISABLED. Set its status to ACTIVE first.", {
    pointer: "/endpoint_id",
  });

export const redeliveryWithoutDelivery = () =>
  conflict(
    "event_without_delivery",
    "This event has no delivery to the endpoint: the endpoint did not exist then or did not subscribe to the type. Read the event instead.",
    { pointer: "/endpoint_id" },
  );
