import { ApiKeyCreation, ApiKeyForOperator, ApiKeyRevocation, renderApiKey } from "@amana/public-api";
import { Type } from "typebox";
import { keyChangeTimeoutMs } from "../call.ts";
import { nameText, text, uuid } from "../form/fields.ts";
import { keyLimits } from "../form/key-limits.ts";
import type { App, Gateway } from "../gateway.ts";
import { canonicalCidr } from "../key-lease/allowed-ips.ts";
import { addActionRoute, addCreateRoute, addListRoute } from "../operations.ts";

const apiKey = { tag: "Operators", render: renderApiKey } as const;

export async function apiKeys(app: App, { rpc: { apiKeys: rpc } }: Gateway): Promise<void> {
  addCreateRoute(app, "", {
    ...apiKey,
    rpc: rpc.createLimitedApiKey,
    operationId: "createApiKey",
    summary: "Issue an API key",
    description: "Issues an API key for a business. Only this response contains the plaintext `api_key`; store it.",
    body: {
      business_id: uuid("Business that receives the key."),
      name: nameText({ description: "Name of the key; unique among the live keys of the business.", examples: ["checkout"] }),
      ...keyLimits(),
    },
    response: ApiKeyCreation,
    execute: async ({ allowed_ips, ...fields }, { send, call }) => {
      const { business_id: businessId, name, expires_at } = fields;
      if (!expires_at && !allowed_ips) return await rpc.createApiKey({ businessId, name }, call);
      return await send({ ...fields, allowed_ips: allowed_ips?.map(canonicalCidr) });
    },
    // An API key has no URL of its own, so Location is the list that contains it.
    location: ({ businessId }) => `/api/v1/admin/api-keys?business_id=${businessId}`,
  });

  addListRoute(app, "", {
    ...apiKey,
    rpc: rpc.listApiKeys,
    summary: "List API keys",
    description: "Returns the API keys of a business without their plaintext, newest first.",
    requiredFilters: { business_id: uuid("Business that owns the keys.") },
    response: ApiKeyForOperator,
  });

  addActionRoute(app, "/:id/revoke", {
    ...apiKey,
    rpc: rpc.revokeApiKey,
    timeoutMs: keyChangeTimeoutMs,
    summary: "Revoke an API key",
    description:
      "Revokes an API key of any business. From the time of the response, all gateways reject the key with 401 " +
      "`api_key_revoked`. A repeated revocation changes nothing.",
    body: { reason: Type.Optional(text(500, { description: "Reason, stored in the audit trail." })) },
    response: ApiKeyRevocation,
  });
}
