import type { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { toClientMessage } from "../client/client.message.ts";
import { clientList } from "../client/queries.ts";
import type { Context } from "../context.ts";

export const listClients =
  ({ orm }: Context): Implementation<typeof ClientService.method.listClients> =>
  async (request, { caller }) => {
    const { rows, ...total } = await clientList.page(orm.em, businessOf(caller), request);
    return { clients: rows.map((row) => toClientMessage(row)), ...total };
  };
