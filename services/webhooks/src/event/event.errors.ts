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
    "This event has no delivery to the endpoint, because the endpoint did not exist when the event occurred, or did not subscribe to its type. Read the event instead.",
    { pointer: "/endpoint_id" },
  );
