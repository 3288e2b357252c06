import type { ApiKey } from "@amana/contracts/identity/v1/api_key_pb";
import { type Static, Type } from "typebox";
import { isoTimestamp } from "./render.ts";

const optionalTimestamp = () => Type.Optional(Type.String({ format: "date-time" }));

const ApiKeyJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  name: Type.String({ examples: ["checkout"] }),
  api_key: Type.Optional(Type.String({ description: "The plaintext key, only in the answer that issues it." })),
  api_key_prefix: Type.String({ examples: ["sk_live_A1b2C3d4"] }),
  created_at: Type.String({ format: "date-time" }),
  last_used_at: optionalTimestamp(),
  expires_at: optionalTimestamp(),
  revoked_at: optionalTimestamp(),
});
type ApiKeyJson = Static<typeof ApiKeyJson>;

/** An operator's view of a key. */
export const ApiKeyForOperator = Type.Omit(ApiKeyJson, ["api_key"]);
export const ApiKeyCreation = Type.Pick(ApiKeyJson, ["id", "business_id", "name", "api_key", "api_key_prefix", "created_at"]);
export const ApiKeyRevocation = Type.Pick(ApiKeyJson, ["id", "business_id", "name", "api_key_prefix", "revoked_at"]);

/** A business's view of its own keys, where the prefix goes by its short name. */
export const OwnApiKey = Type.Object({
  id: Type.String({ format: "uuid" }),
  name: Type.String(),
  prefix: Type.String({ examples: ["sk_live_A1b2C3d4"] }),
  created_at: Type.String({ format: "date-time" }),
  last_used_at: optionalTimestamp(),
  expires_at: optionalTimestamp(),
  revoked_at: optionalTimestamp(),
});

const optional = (ms: bigint | undefined) => (ms === undefined ? undefined : isoTimestamp(ms));

/** A key with every public field; the schema of each answer chooses among them. */
export function renderApiKey(key: ApiKey): ApiKeyJson {
  return {
    id: key.id,
    business_id: key.businessId,
    name: key.name,
    api_key: key.apiKey,
    api_key_prefix: key.prefix,
    created_at: isoTimestamp(key.createdAtMs),
    last_used_at: optional(key.lastUsedAtMs),
    expires_at: optional(key.expiresAtMs),
    revoked_at: optional(key.revokedAtMs),
  };
}

export function renderOwnApiKey(key: ApiKey): Static<typeof OwnApiKey> {
  return { ...renderApiKey(key), prefix: key.prefix };
}
