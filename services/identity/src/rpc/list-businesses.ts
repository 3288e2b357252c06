import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { adminOf, enumName, type Implementation } from "@amana/rpc";
import { toBusinessMessage } from "../business/business.message.ts";
import { readBusinesses } from "../business/queries.ts";
import type { Context } from "../context.ts";

export const listBusinesses =
  ({ orm }: Context): Implementation<typeof BusinessService.method.listBusinesses> =>
  async (request, call) => {
    adminOf(call.caller);
    const filter = { status: enumName(BusinessStatus, request.status), search: request.search };
    const { rows, ...total } = await readBusinesses(orm.em, filter, request);
    return { businesses: rows.map((business) => toBusinessMessage(business, business)), ...total };
  };
