import type { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import { referencedClientNotFound } from "../kyc-application/kyc-application.errors.ts";
import { kycApplicationList, toKycApplicationMessage } from "../kyc-application/kyc-application.message.ts";
import { linkOf } from "../kyc-application/link.ts";

export const listKycApplications =
  (context: Context): Implementation<typeof KycApplicationService.method.listKycApplications> =>
  async (request, call) => {
    const { orm, clients } = context;
    const businessId = requireBusiness(call.caller);
    if (request.clientId !== undefined && !isUuid(request.clientId)) throw referencedClientNotFound("");
    const { rows, ...total } = await kycApplicationList.page(orm.em, businessId, request);
    // Calls the clients service only if the list is empty, because a client that has an application
    // must exist.
    if (
      total.total === 0 &&
      request.clientId !== undefined &&
      (await clients.readStanding(businessId, request.clientId)) === "UNKNOWN"
    ) {
      throw referencedClientNotFound("");
    }
    const applications = rows.map((row) => toKycApplicationMessage(row, linkOf(context, row)));
    return { applications, ...total };
  };
