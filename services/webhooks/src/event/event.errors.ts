import { DomainError } from "@amana/rpc";

export const eventNotFound = () =>
  new DomainError("not_found", "not_found", "There is no such event. Events are kept for 30 days.");

export const redeliveryEndpointNotFound = () =>
  new DomainError("not_found", "webhook_endpoint_not_found", "There is no such webhook endpoint.", { pointer: "/endpoint_id" });

export const redeliveryEndpointDisabled = () =>
  new DomainError("conflict", "webhook_endpoint_disabled", "The webhook endpoint is DISABLED. Set its status to ACTIVE first.", {
    pointer: "/endpoint_id",
  });

export const redeliveryWithoutDelivery = () =>
  new DomainError(
    "conflict",
    "event_without_delivery",
    "This event had no delivery to the endpoint: the endpoint did not exist yet or had not asked for the type.",
    { pointer: "/endpoint_id" },
  );
