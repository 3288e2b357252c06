import { type ApiKey, ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import { Type } from "typebox";
import { renderer } from "./renderer.ts";

const optionalTimestamp = () => Type.Optional(Type.String({ format: "date-time" }));

const allowedIps = () =>
  Type.Optional(
    Type.Array(Type.String({ examples: ["203.0.113.0/24"] }), {
      description: "The only networks the key may be used from, in canonical form. Absent: from anywhere.",
    }),
  );

const ApiKeyJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  name: Type.String({ examples: ["checkout"] }),
  api_key: Type.Optional(Type.String({ description: "The plaintext key, only in the answer that issues it." })),
  api_key_prefix: Type.String({ examples: ["sk_live_A1b2C3d4"] }),
  created_at: Type.String({ format: "date-time" }),
  last_used_at: optionalTimestamp(),
  expires_at: optionalTimestamp(),
  allowed_ips: allowedIps(),
  revoked_at: optionalTimestamp(),
});

/** An operator's view of a key. */
export const ApiKeyForOperator = Type.Omit(ApiKeyJson, ["api_key"]);
export const ApiKeyCreation = Type.Omit(ApiKeyJson, ["last_used_at", "revoked_at"]);
export const ApiKeyRevocation = Type.Pick(ApiKeyJson, ["id", "business_id", "name", "api_key_prefix", "revoked_at"]);

/** A business's view of its own keys, where the prefix goes by its short name. */
const OwnApiKeyJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  name: Type.String({ examples: ["checkout"] }),
  api_key: Type.Optional(Type.String({ description: "The plaintext key, only in the answer that issues it." })),
  prefix: Type.String({ examples: ["sk_live_A1b2C3d4"] }),
  created_at: Type.String({ format: "date-time" }),
  last_used_at: optionalTimestamp(),
  expires_at: optionalTimestamp(),
  allowed_ips: allowedIps(),
  revoked_at: optionalTimestamp(),
});

export const OwnApiKey = Type.Omit(OwnApiKeyJson, ["api_key"]);
export const OwnApiKeyCreation = Type.Omit(OwnApiKeyJson, ["last_used_at", "revoked_at"]);
export const OwnApiKeyRevocation = Type.Pick(OwnApiKeyJson, ["id", "name", "prefix", "revoked_at"]);

const allowed_ips = ({ allowedIps }: ApiKey) => (allowedIps.length > 0 ? allowedIps : undefined);

/** A key with every public field; the schema of each answer chooses among them. */
export const renderApiKey = renderer(ApiKeySchema, ApiKeyJson, { api_key_prefix: "prefix", allowed_ips });
export const renderOwnApiKey = renderer(ApiKeySchema, OwnApiKeyJson, { allowed_ips });
