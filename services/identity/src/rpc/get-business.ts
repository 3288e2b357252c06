import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { adminOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import { businessNotFound } from "../business/business.errors.ts";
import { toBusinessMessage } from "../business/business.message.ts";
import { readBusiness } from "../business/queries.ts";
import type { Context } from "../context.ts";

export const getBusiness =
  ({ orm }: Context): Implementation<typeof BusinessService.method.getBusiness> =>
  async ({ id }, call) => {
    adminOf(call.caller);
    const business = isUuid(id) ? await readBusiness(orm.em, id) : undefined;
    if (!business) throw businessNotFound();
    return toBusinessMessage(business, business);
  };
