import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { everyBusiness } from "@amana/database";
import { adminOf, type Implementation } from "@amana/rpc";
import { businessNotFound } from "../business/business.errors.ts";
import { businessView, toBusinessMessage } from "../business/business.message.ts";
import type { Context } from "../context.ts";

export const getBusiness =
  ({ orm }: Context): Implementation<typeof BusinessService.method.getBusiness> =>
  async ({ id }, call) => {
    adminOf(call.caller);
    const business = await businessView.read(orm.em, everyBusiness, id);
    if (!business) throw businessNotFound();
    return toBusinessMessage(business, business);
  };
