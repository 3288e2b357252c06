import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { everyBusiness } from "@amana/database";
import { businessOf, type Implementation } from "@amana/rpc";
import { businessNotFound } from "../business/business.errors.ts";
import { businessView, toBusinessMessage } from "../business/business.message.ts";
import type { Context } from "../context.ts";

export const getOwnBusiness =
  ({ orm }: Context): Implementation<typeof BusinessService.method.getOwnBusiness> =>
  async (_request, call) => {
    const business = await businessView.read(orm.em, everyBusiness, businessOf(call.caller));
    if (!business) throw businessNotFound();
    return toBusinessMessage(business, business);
  };
