import { hostCharactersMax } from "@amana/public-api";
import { conflict, invalid, notFound } from "@amana/rpc";

export const endpointsMax = 20;

export const webhookEndpointNotFound = () => notFound("not_found", "There is no such webhook endpoint.");

export const webhookEndpointDisabled = () =>
  conflict("webhook_endpoint_disabled", "The webhook endpoint is DISABLED. Set its status to ACTIVE first.");

export const endpointCheckedRecently = () =>
  conflict(
    "endpoint_checked_recently",
    "This webhook endpoint was checked less than ten seconds ago. Wait ten seconds and try again.",
  );

export const webhookEndpointLimitReached = () =>
  conflict(
    "webhook_endpoint_limit_reached",
    `A business can have at most ${endpointsMax} webhook endpoints. Delete one that you no longer use.`,
  );

export const deliveryAttemptLimitReached = (attemptsPerDayMax: number) =>
  conflict(
    "delivery_attempt_limit_reached",
    `The webhook endpoints of this business had ${attemptsPerDayMax} or more delivery attempts in the last 24 hours, the limit for ` +
      "redeliveries, replays and tests. New events are still delivered. Try again later, or request a higher limit from support.",
  );

export const unknownEventType = (type: string) =>
  invalid(
    "unknown_event_type",
    `"${type}" is not an event type to which endpoints can subscribe. The documentation lists the valid types.`,
    {
      pointer: "/events",
    },
  );

/** Equals the period after a rotation in which both secrets are valid in `webhook-signature`. */
export const activateInSecondsMax = 24 * 60 * 60;

export const activateInSecondsInvalid = () =>
  invalid("validation_failed", `activate_in_seconds must be a whole number from 0 to ${activateInSecondsMax}.`, {
    pointer: "/activate_in_seconds",
  });

const invalidUrl = (code: string, detail: string) => invalid(code, detail, { pointer: "/url" });

export const urlInvalid = () =>
  invalidUrl("url_invalid", "The URL is not absolute. Send a URL like https://example.com/webhooks.");
export const urlNotHttps = () => invalidUrl("url_not_https", "Webhooks are delivered only over https. Send an https URL.");
export const urlTooLong = () => invalidUrl("url_too_long", "A URL can have at most 2048 characters. Send a shorter URL.");
export const urlHostTooLong = () =>
  invalidUrl(
    "url_too_long",
    `A host name can have at most ${hostCharactersMax} characters. Send a URL with a shorter host name.`,
  );
export const urlHasCredentials = () =>
  invalidUrl(
    "url_has_credentials",
    "A URL must not contain a user name or password. To authenticate deliveries, verify the X-Signature header.",
  );
export const urlHasFragment = () =>
  invalidUrl("url_has_fragment", "A URL must not have a fragment (#…), because HTTP does not send it. Remove the fragment.");
export const urlNotPublic = () =>
  invalidUrl("url_not_public", "The host is not on the public internet. Use a host with a public address.");
