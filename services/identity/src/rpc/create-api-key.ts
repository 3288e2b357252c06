import { ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import type { ApiKeyService, CreateLimitedApiKeyRequest } from "@amana/contracts/identity/v1/api_key_service_pb";
import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { once } from "@amana/idempotency";
import { type Call, type Implementation, requireAdmin, requireBusiness } from "@amana/rpc";
import { toApiKeyMessage } from "../api-key/api-key.message.ts";
import { readKeyLimits, requireWithinIssuer } from "../api-key/key-limits.ts";
import { lockKeyRing } from "../api-key/key-ring.ts";
import { auditChange } from "../audit/audit-event.ts";
import { referencedBusinessNotFound } from "../business/business.errors.ts";
import { lockBusiness } from "../business/business.ts";
import type { Context } from "../context.ts";

/**
 * Issues a key without limits. Gateways use this RPC for such keys, because the previous version of
 * identity does not have `createLimitedApiKey`.
 */
export const createApiKey =
  (context: Context): Implementation<typeof ApiKeyService.method.createApiKey> =>
  async ({ businessId, name }, call) => {
    requireAdmin(call.caller);
    return await issueKey(context, call, { businessId, name, allowedIps: [] });
  };

export const createLimitedApiKey =
  (context: Context): Implementation<typeof ApiKeyService.method.createLimitedApiKey> =>
  async (request, call) => {
    requireAdmin(call.caller);
    return await issueKey(context, call, request);
  };

export const createOwnApiKey =
  (context: Context): Implementation<typeof BusinessService.method.createOwnApiKey> =>
  async (request, call) =>
    await issueKey(context, call, { ...request, businessId: requireBusiness(call.caller) });

async function issueKey(
  { orm, clock, keyMode }: Context,
  call: Call,
  request: Omit<CreateLimitedApiKeyRequest, "$typeName" | "$unknown">,
) {
  return await once(
    orm,
    call,
    ApiKeySchema,
    async (em) => {
      const business = await lockBusiness(em, request.businessId, referencedBusinessNotFound);
      const keyRing = await lockKeyRing(em, business, keyMode);
      const limits = await readKeyLimits(em, request);
      if (call.caller.role === "business") requireWithinIssuer(limits, keyRing.requireCallerKey(call.caller));
      const now = clock.now();
      const { apiKey, plaintext } = keyRing.add(request.name, now, limits);
      auditChange(em, now, call, "api_key.created", apiKey);
      return toApiKeyMessage(apiKey, plaintext);
    },
    ({ apiKey: _secret, ...message }) => message,
  );
}
