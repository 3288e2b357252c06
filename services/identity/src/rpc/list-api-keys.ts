import type { ApiKeyService } from "@amana/contracts/identity/v1/api_key_service_pb";
import { everyBusiness } from "@amana/database";
import { adminOf, type Implementation } from "@amana/rpc";
import { toApiKeyMessage } from "../api-key/api-key.message.ts";
import { apiKeyList } from "../api-key/queries.ts";
import { namedBusinessNotFound } from "../business/business.errors.ts";
import { businessView } from "../business/business.message.ts";
import type { Context } from "../context.ts";

export const listApiKeys =
  ({ orm }: Context): Implementation<typeof ApiKeyService.method.listApiKeys> =>
  async (request, call) => {
    adminOf(call.caller);
    const business = await businessView.read(orm.em, everyBusiness, request.businessId);
    if (!business) throw namedBusinessNotFound("");
    const { rows, total } = await apiKeyList.page(orm.em, business.id, request);
    return { apiKeys: rows.map((key) => toApiKeyMessage(key)), total };
  };
