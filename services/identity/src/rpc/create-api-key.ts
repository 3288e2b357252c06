import { ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import type { ApiKeyService } from "@amana/contracts/identity/v1/api_key_service_pb";
import { once } from "@amana/idempotency";
import { adminOf, type Implementation } from "@amana/rpc";
import { toApiKeyMessage } from "../api-key/api-key.message.ts";
import { takeKeyRing } from "../api-key/key-ring.ts";
import { keepChange } from "../audit/audit-event.ts";
import { namedBusinessNotFound } from "../business/business.errors.ts";
import { lockBusiness } from "../business/business.ts";
import type { Context } from "../context.ts";

export const createApiKey =
  ({ orm, clock, keyMode }: Context): Implementation<typeof ApiKeyService.method.createApiKey> =>
  async (request, call) => {
    adminOf(call.caller);
    return await once(
      orm,
      call,
      ApiKeySchema,
      async (em) => {
        const business = await lockBusiness(em, request.businessId, namedBusinessNotFound);
        const keyRing = await takeKeyRing(em, business, keyMode);
        const now = clock.now();
        const { apiKey, plaintext } = keyRing.add(request.name, now);
        keepChange(em, now, call, "api_key.created", apiKey);
        return toApiKeyMessage(apiKey, plaintext);
      },
      ({ apiKey: _secret, ...answer }) => answer,
    );
  };
