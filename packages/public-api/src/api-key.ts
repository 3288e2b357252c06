import { type ApiKey, ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import { Type } from "typebox";
import { createRenderer } from "./renderer.ts";

const optionalTimestamp = () => Type.Optional(Type.String({ format: "date-time" }));
const expiresAt = () =>
  Type.Optional(Type.String({ format: "date-time", description: "Time at which the key expires. Absent without an expiry." }));
const prefix = () => Type.String({ description: "First 16 characters of the key.", examples: ["sk_live_A1b2C3d4"] });

const allowedIps = () =>
  Type.Optional(
    Type.Array(Type.String({ examples: ["203.0.113.0/24"] }), {
      description:
        "Networks from which the key is accepted, in canonical form. Absent when the key is accepted from all addresses.",
    }),
  );

const ApiKeyJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  name: Type.String({ examples: ["checkout"] }),
  api_key: Type.Optional(Type.String({ description: "Plaintext of the key; only in the response that issues it." })),
  api_key_prefix: prefix(),
  created_at: Type.String({ format: "date-time" }),
  last_used_at: optionalTimestamp(),
  expires_at: expiresAt(),
  allowed_ips: allowedIps(),
  revoked_at: optionalTimestamp(),
});

/** Schema of an API key for operators. */
export const ApiKeyForOperator = Type.Omit(ApiKeyJson, ["api_key"]);
export const ApiKeyCreation = Type.Omit(ApiKeyJson, ["last_used_at", "revoked_at"]);
export const ApiKeyRevocation = Type.Pick(ApiKeyJson, ["id", "business_id", "name", "api_key_prefix", "revoked_at"]);

/**
 * Schema of an API key in responses to the business that owns the key. Its field is named `prefix`,
 * not `api_key_prefix`.
 */
const OwnApiKeyJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  name: Type.String({ examples: ["checkout"] }),
  api_key: Type.Optional(Type.String({ description: "Plaintext of the key; only in the response that issues it." })),
  prefix: prefix(),
  created_at: Type.String({ format: "date-time" }),
  last_used_at: optionalTimestamp(),
  expires_at: expiresAt(),
  allowed_ips: allowedIps(),
  revoked_at: optionalTimestamp(),
});

export const OwnApiKey = Type.Omit(OwnApiKeyJson, ["api_key"]);
export const OwnApiKeyCreation = Type.Omit(OwnApiKeyJson, ["last_used_at", "revoked_at"]);
export const OwnApiKeyRevocation = Type.Pick(OwnApiKeyJson, ["id", "name", "prefix", "revoked_at"]);

const allowed_ips = ({ allowedIps }: ApiKey) => (allowedIps.length > 0 ? allowedIps : undefined);

/**
 * Renders a key with all public fields. The response schema of each operation drops the fields that
 * it does not list.
 */
export const renderApiKey = createRenderer(ApiKeySchema, ApiKeyJson, { api_key_prefix: "prefix", allowed_ips });
export const renderOwnApiKey = createRenderer(ApiKeySchema, OwnApiKeyJson, { allowed_ips });
