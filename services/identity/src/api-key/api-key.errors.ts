import { conflict, invalid, notFound } from "@amana/rpc";

export const apiKeyNotFound = () => notFound("not_found", "There is no API key with this id. Check the id.");

export const apiKeyNameTaken = (name: string) =>
  conflict(
    "api_key_name_taken",
    `A live key of the business has the name "${name}". Choose another name, or revoke that key first.`,
    {
      pointer: "/name",
    },
  );

export const apiKeyLimitReached = (liveMax: number) =>
  conflict(
    "api_key_limit_reached",
    `A business can have at most ${liveMax} live keys, including rotated keys that have not expired. Revoke a key, or wait until one expires.`,
  );

/**
 * Error for a request that was sent with a replaced key, or with a key that a concurrent request
 * has replaced or revoked.
 */
export const apiKeyReplaced = () =>
  conflict(
    "api_key_replaced",
    "The key of this request was replaced or revoked. Use the key that replaced it, or another live key.",
  );

export const apiKeyCannotRevokeItself = () =>
  conflict("api_key_in_use", "An API key cannot revoke itself. Send the request with another key of the business.");

export const apiKeyExpiryInvalid = () =>
  invalid(
    "validation_failed",
    "expires_at must be in the future. Send a later time, or omit it for a key that does not expire.",
    {
      pointer: "/expires_at",
    },
  );

export const previousKeyTtlInvalid = (secondsMax: number) =>
  invalid("validation_failed", `previous_key_ttl_seconds must be a whole number from 0 to ${secondsMax}.`, {
    pointer: "/previous_key_ttl_seconds",
  });

export const apiKeyOutlivesIssuer = (end: Date) =>
  invalid(
    "api_key_limits_exceeded",
    `The key of this request expires at ${end.toISOString()} and cannot issue a key that expires later. Send an earlier expires_at, or use a key that does not expire.`,
    { pointer: "/expires_at" },
  );

export const apiKeyWiderThanIssuer = (networks: readonly string[]) =>
  invalid(
    "api_key_limits_exceeded",
    `The key of this request is restricted to ${networks.join(", ")} and cannot issue a key for other networks. Send allowed_ips within these networks, or use an unrestricted key.`,
    { pointer: "/allowed_ips" },
  );
