import { ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import type { ApiKeyService } from "@amana/contracts/identity/v1/api_key_service_pb";
import { everyBusiness, lockRow } from "@amana/database";
import { once } from "@amana/idempotency";
import { adminOf, type Implementation } from "@amana/rpc";
import { apiKeyNotFound } from "../api-key/api-key.errors.ts";
import { toApiKeyMessage } from "../api-key/api-key.message.ts";
import { ApiKey } from "../api-key/api-key.ts";
import { keepChange } from "../audit/audit-event.ts";
import type { Context } from "../context.ts";
import { logCutOff } from "../key-lease/granted-leases.ts";

export const revokeApiKey =
  ({ orm, clock, leases, logger }: Context): Implementation<typeof ApiKeyService.method.revokeApiKey> =>
  async (request, call) => {
    adminOf(call.caller);
    const answer = await once(orm, call, ApiKeySchema, async (em) => {
      const apiKey = await lockRow(em, ApiKey, everyBusiness, request.id, apiKeyNotFound);
      const before = apiKey.snapshot();
      const now = clock.now();
      if (apiKey.revoke(now)) {
        keepChange(em, now, call, "api_key.revoked", apiKey, { before, reason: request.reason });
      }
      return toApiKeyMessage(apiKey);
    });

    logCutOff(logger, { business_id: answer.businessId, api_key_id: answer.id });
    await leases.ended();
    return answer;
  };
