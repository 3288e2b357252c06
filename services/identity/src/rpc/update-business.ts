import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { type Implementation, requestedName, requireAdmin } from "@amana/rpc";
import { changeBusiness } from "../business/change-business.ts";
import type { Context } from "../context.ts";

export const updateBusiness =
  (context: Context): Implementation<typeof BusinessService.method.updateBusiness> =>
  async ({ id, name, status, rotateApiKey }, call) => {
    requireAdmin(call.caller);
    return await changeBusiness(context, call, id, {
      name,
      status: requestedName(BusinessStatus, status),
      rotation: rotateApiKey ? ({ newestKey: newest }) => ({ oldKey: newest }) : undefined,
    });
  };
