import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { businessOf, enumName, type Implementation } from "@amana/rpc";
import { dateOf, isUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import { namedClientNotFound } from "../kyc-application/kyc-application.errors.ts";
import { toKycApplicationMessage } from "../kyc-application/kyc-application.message.ts";
import { linkOf } from "../kyc-application/link.ts";
import { readKycApplications } from "../kyc-application/queries.ts";

export const listKycApplications =
  (context: Context): Implementation<typeof KycApplicationService.method.listKycApplications> =>
  async (request, call) => {
    const { orm, clients } = context;
    const businessId = businessOf(call.caller);
    if (request.clientId !== undefined && !isUuid(request.clientId)) throw namedClientNotFound("");
    const filter = {
      status: enumName(KycStatus, request.status),
      verdict: enumName(KycVerdict, request.verdict),
      clientId: request.clientId,
      externalId: request.externalId,
      createdFrom: dateOf(request.createdFromMs),
      createdTo: dateOf(request.createdToMs),
    };
    const { rows, total } = await readKycApplications(orm.em, businessId, filter, request);
    // Whoever has an application is a client; only without one it has to be asked.
    if (total === 0 && request.clientId !== undefined && (await clients.standing(businessId, request.clientId)) === "unknown") {
      throw namedClientNotFound("");
    }
    const applications = rows.map((row) => toKycApplicationMessage(row, linkOf(context, row)));
    return { applications, total };
  };
