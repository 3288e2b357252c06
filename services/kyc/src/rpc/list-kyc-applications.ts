import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { toKycApplicationMessage } from "../kyc-application/kyc-application.message.ts";
import { listKycApplications as readPage } from "../kyc-application/queries.ts";

export const listKycApplications =
  ({ orm, secrets }: Context): Implementation<typeof KycApplicationService.method.listKycApplications> =>
  async (request, call) => {
    const businessId = businessOf(call.caller);
    if (request.clientId !== undefined && !isUuid(request.clientId)) return { applications: [], total: 0 };
    const filter = {
      status: nameOf(KycStatus, request.status),
      verdict: nameOf(KycVerdict, request.verdict),
      clientId: request.clientId ?? null,
      externalId: request.externalId ?? null,
      createdFrom: request.createdFromMs === undefined ? null : new Date(Number(request.createdFromMs)),
      createdTo: request.createdToMs === undefined ? null : new Date(Number(request.createdToMs)),
    };
    const em = orm.em.fork() as SqlEntityManager;
    const { rows, total } = await readPage(em, businessId, filter, request.limit, request.offset);
    const applications = rows.map((row) => toKycApplicationMessage(row, secrets.decrypt(row.linkCiphertext, row.id)));
    return { applications, total };
  };

/** Null for unspecified, which filters nothing; a number without a name filters everything. */
const nameOf = (names: Readonly<Record<string, unknown>>, value: number): string | null =>
  value === 0 ? null : (Object.entries(names).find(([, number]) => number === value)?.[0] ?? "");
