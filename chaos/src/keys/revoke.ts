import { randomUUID } from "node:crypto";
import { apiCaller } from "@amana/dev-env/demo/api";
import type { Random } from "../random.ts";

export const revocationMethods = [
  "revoke",
  "revoke by the business",
  "rotate by an operator",
  "rotate by the business",
  "disable",
] as const;
export type RevocationMethod = (typeof revocationMethods)[number];

const waitMsMax = 30_000;

/** A business and its key, which the round revokes. */
export interface Victim {
  readonly businessId: string;
  readonly keyId: string;
  readonly key: string;
}

export async function createVictim(gatewayUrl: string, adminKey: string, round: number): Promise<Victim> {
  const operator = apiCaller(gatewayUrl, adminKey);
  const { body } = await operator("POST", "/api/v1/businesses", { name: `victim ${round}` });
  const [{ id } = { id: "" }] = JSON.parse((await operator("GET", `/api/v1/admin/api-keys?business_id=${body["id"]}`)).text) as {
    id: string;
  }[];
  return { businessId: String(body["id"]), keyId: id, key: String(body["api_key"]) };
}

/**
 * Revokes a key by the given method and returns true if a response confirms the revocation. Repeats
 * a request that got no response, for example because identity was killed between its commit and
 * its response. Returns false on status 401, because the request was sent with the revoked key, and
 * no response can then confirm the revocation.
 */
export async function revoke(
  gatewayUrls: readonly string[],
  adminKey: string,
  victim: Victim,
  method: RevocationMethod,
  random: Random,
) {
  const endsAtMs = performance.now() + waitMsMax;
  while (performance.now() < endsAtMs) {
    const url = random.pick(gatewayUrls);
    const status = await sendRevocation(url, adminKey, victim, method).catch(() => 0);
    if (status === 200) return true;
    if (status === 401) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no response to "${method}" within ${waitMsMax / 1000} s`);
}

async function sendRevocation(gatewayUrl: string, adminKey: string, victim: Victim, method: RevocationMethod): Promise<number> {
  const operator = apiCaller(gatewayUrl, adminKey);
  switch (method) {
    case "revoke":
      return (await operator("POST", `/api/v1/admin/api-keys/${victim.keyId}/revoke`)).status;
    case "revoke by the business": {
      const secondKey = { business_id: victim.businessId, name: `second ${randomUUID()}` };
      const { body } = await operator("POST", "/api/v1/admin/api-keys", secondKey);
      return (await apiCaller(gatewayUrl, String(body["api_key"]))("POST", `/api/v1/me/api-keys/${victim.keyId}/revoke`)).status;
    }
    case "rotate by an operator":
      return (await operator("PATCH", `/api/v1/businesses/${victim.businessId}`, { rotate_api_key: true })).status;
    case "rotate by the business":
      return (await apiCaller(gatewayUrl, victim.key)("PATCH", "/api/v1/me", { rotate_api_key: true })).status;
    case "disable":
      return (await operator("PATCH", `/api/v1/businesses/${victim.businessId}`, { status: "DISABLED" })).status;
  }
}
