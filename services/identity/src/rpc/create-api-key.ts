import { ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import type { ApiKeyService, CreateLimitedApiKeyRequest } from "@amana/contracts/identity/v1/api_key_service_pb";
import { once } from "@amana/idempotency";
import { adminOf, type Call, type Implementation } from "@amana/rpc";
import { toApiKeyMessage } from "../api-key/api-key.message.ts";
import { readKeyLimits } from "../api-key/key-limits.ts";
import { takeKeyRing } from "../api-key/key-ring.ts";
import { keepChange } from "../audit/audit-event.ts";
import { namedBusinessNotFound } from "../business/business.errors.ts";
import { lockBusiness } from "../business/business.ts";
import type { Context } from "../context.ts";

export const createLimitedApiKey =
  ({ orm, clock, keyMode }: Context) =>
  async (request: Omit<CreateLimitedApiKeyRequest, "$typeName">, call: Call) => {
    adminOf(call.caller);
    return await once(
      orm,
      call,
      ApiKeySchema,
      async (em) => {
        const business = await lockBusiness(em, request.businessId, namedBusinessNotFound);
        const keyRing = await takeKeyRing(em, business, keyMode);
        const now = clock.now();
        const { apiKey, plaintext } = keyRing.add(request.name, now, await readKeyLimits(em, request));
        keepChange(em, now, call, "api_key.created", apiKey);
        return toApiKeyMessage(apiKey, plaintext);
      },
      ({ apiKey: _secret, ...answer }) => answer,
    );
  };

/** What the gateway asks for where there are no limits: the version before knows it too. */
export const createApiKey =
  (context: Context): Implementation<typeof ApiKeyService.method.createApiKey> =>
  ({ businessId, name }, call) =>
    createLimitedApiKey(context)({ businessId, name, allowedIps: [] }, call);
