import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import type { KeyLeaseService } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { type Implementation, requirePlatform } from "@amana/rpc";
import type { Context } from "../context.ts";
import { findBusiness } from "../key-lease/queries.ts";

export const resolveBusiness =
  ({ orm, leases }: Context): Implementation<typeof KeyLeaseService.method.resolveBusiness> =>
  async ({ businessId }, call) => {
    requirePlatform(call.caller);
    const business = await findBusiness(orm.em, businessId);
    return {
      name: business?.name ?? "",
      status: business ? BusinessStatus[business.status] : BusinessStatus.UNSPECIFIED,
      leaseMs: leases.leaseMs,
    };
  };
