import type { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { clientNotFound } from "../client/client.errors.ts";
import { clientView, toClientMessage } from "../client/client.message.ts";
import type { Context } from "../context.ts";

export const getClient =
  ({ orm }: Context): Implementation<typeof ClientService.method.getClient> =>
  async ({ id }, { caller }) => {
    const client = await clientView.read(orm.em, businessOf(caller), id);
    if (!client) throw clientNotFound();
    return toClientMessage(client);
  };
