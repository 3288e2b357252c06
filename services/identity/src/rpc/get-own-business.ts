import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { businessNotFound } from "../business/business.errors.ts";
import { toBusinessMessage } from "../business/business.message.ts";
import { readBusiness } from "../business/queries.ts";
import type { Context } from "../context.ts";

export const getOwnBusiness =
  ({ orm }: Context): Implementation<typeof BusinessService.method.getOwnBusiness> =>
  async (_request, call) => {
    const business = await readBusiness(orm.em, businessOf(call.caller));
    if (!business) throw businessNotFound();
    return toBusinessMessage(business, business);
  };
