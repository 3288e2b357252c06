import { ClientKycStatus, RiskLevel } from "@amana/contracts/clients/v1/client_pb";
import type { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { businessOf, enumName, type Implementation } from "@amana/rpc";
import { toClientMessage } from "../client/client.message.ts";
import { readClients } from "../client/queries.ts";
import type { Context } from "../context.ts";

export const listClients =
  ({ orm }: Context): Implementation<typeof ClientService.method.listClients> =>
  async (request, { caller }) => {
    const filter = {
      kycStatus: enumName(ClientKycStatus, request.kycStatus),
      riskLevel: enumName(RiskLevel, request.riskLevel),
      isBlacklisted: request.isBlacklisted,
      blocked: request.blocked,
      search: request.search,
      email: request.email,
      externalClientCode: request.externalClientCode,
    };
    const { rows, ...total } = await readClients(orm.em, businessOf(caller), filter, request);
    return { clients: rows.map(toClientMessage), ...total };
  };
