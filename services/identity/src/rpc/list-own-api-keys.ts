import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { toApiKeyMessage } from "../api-key/api-key.message.ts";
import { apiKeyList } from "../api-key/queries.ts";
import type { Context } from "../context.ts";

export const listOwnApiKeys =
  ({ orm }: Context): Implementation<typeof BusinessService.method.listOwnApiKeys> =>
  async (request, call) => {
    const { rows, total } = await apiKeyList.page(orm.em, businessOf(call.caller), request);
    return { apiKeys: rows.map((key) => toApiKeyMessage(key)), total };
  };
