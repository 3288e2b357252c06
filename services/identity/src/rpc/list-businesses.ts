import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { everyBusiness } from "@amana/database";
import { adminOf, type Implementation } from "@amana/rpc";
import { toBusinessMessage } from "../business/business.message.ts";
import { businessList } from "../business/queries.ts";
import type { Context } from "../context.ts";

export const listBusinesses =
  ({ orm }: Context): Implementation<typeof BusinessService.method.listBusinesses> =>
  async (request, call) => {
    adminOf(call.caller);
    const { rows, ...total } = await businessList.page(orm.em, everyBusiness, request);
    return { businesses: rows.map((business) => toBusinessMessage(business, business)), ...total };
  };
