import { ApiKeyCreation, ApiKeyForOperator, ApiKeyRevocation, renderApiKey } from "@amana/public-api";
import { Type } from "typebox";
import { nameText, text, uuid } from "../form/fields.ts";
import { keyLimits } from "../form/key-limits.ts";
import type { App, Gateway } from "../gateway.ts";
import { canonicalCidr } from "../key-lease/allowed-ips.ts";
import { act, create, list } from "../operations.ts";

/** A revocation waits until it holds on all gateways. */
const changeTimeoutMs = 15_000;

const apiKey = { tags: ["API keys"], render: renderApiKey };

export async function apiKeys(app: App, { rpc: { apiKeys: rpc } }: Gateway): Promise<void> {
  create(app, "", {
    ...apiKey,
    rpc: rpc.createLimitedApiKey,
    operationId: "createApiKey",
    summary: "Issue a named key for a business",
    description: "The answer carries the plaintext `api_key`, once.",
    body: { business_id: uuid(), name: nameText(), ...keyLimits() },
    answer: ApiKeyCreation,
    ask: async ({ allowed_ips, ...fields }, { send, call }) => {
      const { business_id: businessId, name, expires_at } = fields;
      if (!expires_at && !allowed_ips) return await rpc.createApiKey({ businessId, name }, call);
      return await send({ ...fields, allowed_ips: allowed_ips?.map(canonicalCidr) });
    },
    // A key has no address of its own to read it at; this one lists it.
    location: ({ businessId }) => `/api/v1/admin/api-keys?business_id=${businessId}`,
  });

  list(app, "", {
    ...apiKey,
    rpc: rpc.listApiKeys,
    summary: "List the keys of a business, newest first",
    required: { business_id: uuid() },
    answer: ApiKeyForOperator,
  });

  act(app, "/:id/revoke", {
    ...apiKey,
    rpc: rpc.revokeApiKey,
    timeoutMs: changeTimeoutMs,
    summary: "Revoke a key",
    description: "Holds everywhere from the moment of the answer. Revoking again changes nothing.",
    body: { reason: Type.Optional(text(500)) },
    answer: ApiKeyRevocation,
  });
}
