import { ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import type { ApiKeyService } from "@amana/contracts/identity/v1/api_key_service_pb";
import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { allBusinesses, lockRow } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Call, type Implementation, requireAdmin, requireBusiness } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { apiKeyCannotRevokeItself, apiKeyNotFound } from "../api-key/api-key.errors.ts";
import { toApiKeyMessage } from "../api-key/api-key.message.ts";
import { ApiKey } from "../api-key/api-key.ts";
import { lockKeyRing } from "../api-key/key-ring.ts";
import { auditChange } from "../audit/audit-event.ts";
import { lockBusiness } from "../business/business.ts";
import type { Context } from "../context.ts";
import { logAccessRemoval } from "../key-lease/lease-wait.ts";

export const revokeApiKey =
  (context: Context): Implementation<typeof ApiKeyService.method.revokeApiKey> =>
  async ({ id, reason }, call) => {
    requireAdmin(call.caller);
    return await revoke(context, call, reason, (em) => lockRow(em, ApiKey, allBusinesses, id, apiKeyNotFound));
  };

export const revokeOwnApiKey =
  (context: Context): Implementation<typeof BusinessService.method.revokeOwnApiKey> =>
  async ({ id, reason }, call) => {
    const { caller } = call;
    const businessId = requireBusiness(caller);
    return await revoke(context, call, reason, async (em) => {
      // The lock serializes concurrent requests. If two keys revoke each other, one of the keys
      // stays live.
      const business = await lockBusiness(em, businessId);
      const callerKey = (await lockKeyRing(em, business, context.keyMode)).requireCallerKey(caller);
      if (callerKey.id === id) throw apiKeyCannotRevokeItself();
      return await lockRow(em, ApiKey, businessId, id, apiKeyNotFound);
    });
  };

async function revoke(
  { orm, clock, leases, logger }: Context,
  call: Call,
  reason: string | undefined,
  lockKey: (em: SqlEntityManager) => Promise<ApiKey>,
) {
  const message = await once(orm, call, ApiKeySchema, async (em) => {
    const apiKey = await lockKey(em);
    const before = apiKey.snapshot();
    const now = clock.now();
    if (apiKey.revoke(now)) auditChange(em, now, call, "api_key.revoked", apiKey, { before, reason });
    return toApiKeyMessage(apiKey);
  });

  logAccessRemoval(logger, { business_id: message.businessId, api_key_id: message.id });
  await leases.waitUntilExpired();
  return message;
}
