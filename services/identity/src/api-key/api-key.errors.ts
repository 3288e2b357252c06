import { conflict, invalid, notFound } from "@amana/rpc";

export const apiKeyNotFound = () => notFound("not_found", "There is no such API key. Check the id.");

export const apiKeyNameTaken = (name: string) =>
  conflict("api_key_name_taken", `The business has a live key named "${name}". Choose another name, or revoke that key first.`, {
    pointer: "/name",
  });

export const apiKeyLimitReached = (liveMax: number) =>
  conflict(
    "api_key_limit_reached",
    `A business has at most ${liveMax} live keys, keys that were rotated and still run included. Revoke one, or wait for one to expire.`,
  );

/** Of two changes at the same time that end a key, the first one wins. */
export const apiKeyReplaced = () =>
  conflict("api_key_replaced", "The key of this request has been replaced or revoked. Go on with the key that replaced it.");

export const apiKeyInUse = () =>
  conflict("api_key_in_use", "A key does not revoke itself. Call with the key that is to stay, and revoke this one with it.");

export const apiKeyEndInvalid = () =>
  invalid("validation_failed", "expires_at is in the future. Send a later time, or leave it out for a key without an end.", {
    pointer: "/expires_at",
  });

export const previousKeyTtlInvalid = (secondsMax: number) =>
  invalid("validation_failed", `previous_key_ttl_seconds is a whole number from 0 to ${secondsMax}.`, {
    pointer: "/previous_key_ttl_seconds",
  });

export const apiKeyOutlivesIssuer = (end: Date) =>
  invalid(
    "api_key_limits_exceeded",
    `The key of this request ends at ${end.toISOString()}, and issues none that lives longer. Send expires_at up to then, or issue it with a key without an end.`,
    { pointer: "/expires_at" },
  );

export const apiKeyWiderThanIssuer = (networks: readonly string[]) =>
  invalid(
    "api_key_limits_exceeded",
    `The key of this request is for ${networks.join(", ")} alone, and issues none for others. Send allowed_ips within, or issue it with a key for all addresses.`,
    { pointer: "/allowed_ips" },
  );
