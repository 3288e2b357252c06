import type { ApiKeyService } from "@amana/contracts/identity/v1/api_key_service_pb";
import { adminOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import { toApiKeyMessage } from "../api-key/api-key.message.ts";
import { readApiKeys } from "../api-key/queries.ts";
import { namedBusinessNotFound } from "../business/business.errors.ts";
import { readBusiness } from "../business/queries.ts";
import type { Context } from "../context.ts";

export const listApiKeys =
  ({ orm }: Context): Implementation<typeof ApiKeyService.method.listApiKeys> =>
  async (request, call) => {
    adminOf(call.caller);
    const business = isUuid(request.businessId) ? await readBusiness(orm.em, request.businessId) : undefined;
    if (!business) throw namedBusinessNotFound("");
    const { rows, total } = await readApiKeys(orm.em, business.id, request);
    return { apiKeys: rows.map((key) => toApiKeyMessage(key)), total };
  };
