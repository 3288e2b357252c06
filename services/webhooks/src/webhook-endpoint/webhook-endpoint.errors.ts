import { conflict, invalid, notFound } from "@amana/rpc";

export const endpointsMax = 20;

export const webhookEndpointNotFound = () => notFound("not_found", "There is no such webhook endpoint.");

export const webhookEndpointDisabled = () =>
  conflict("webhook_endpoint_disabled", "The webhook endpoint is DISABLED. Set its status to ACTIVE first.");

export const checkedRecently = () =>
  conflict("endpoint_checked_recently", "This webhook endpoint was checked less than ten seconds ago. Wait, and check it again.");

export const webhookEndpointLimitReached = () =>
  conflict(
    "webhook_endpoint_limit_reached",
    `A business has at most ${endpointsMax} webhook endpoints. Delete one that is not used any more.`,
  );

export const unknownEventType = (type: string) =>
  invalid(
    "unknown_event_type",
    `"${type}" is not an event type that endpoints can ask for. The documentation lists those that are.`,
    {
      pointer: "/events",
    },
  );

/** As long as both secrets are good in `webhook-signature`. */
export const activateInSecondsMax = 24 * 60 * 60;

export const activateInSecondsInvalid = () =>
  invalid("validation_failed", `activate_in_seconds is a whole number from 0 to ${activateInSecondsMax}.`, {
    pointer: "/activate_in_seconds",
  });

const urlRefusal = (code: string, detail: string) => invalid(code, detail, { pointer: "/url" });

export const urlInvalid = () => urlRefusal("url_invalid", "This is not an absolute URL, like https://example.com/webhooks.");
export const urlNotHttps = () => urlRefusal("url_not_https", "Webhooks are delivered over https only. Send an https address.");
export const urlTooLong = () => urlRefusal("url_too_long", "A URL has at most 2048 characters. Send a shorter one.");
export const urlHasCredentials = () =>
  urlRefusal("url_has_credentials", "A URL must not carry a user name or password. Check the X-Signature header instead.");
export const urlHasFragment = () =>
  urlRefusal("url_has_fragment", "A URL must not have a fragment (#…); it would never be sent. Leave it out.");
export const urlNotPublic = () =>
  urlRefusal("url_not_public", "The host is not on the public internet. Use an address that can be reached from there.");
