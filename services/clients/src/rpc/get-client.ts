import type { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import { clientNotFound } from "../client/client.errors.ts";
import { toClientMessage } from "../client/client.message.ts";
import { readClient } from "../client/queries.ts";
import type { Context } from "../context.ts";

export const getClient =
  ({ orm }: Context): Implementation<typeof ClientService.method.getClient> =>
  async ({ id }, { caller }) => {
    const businessId = businessOf(caller);
    const row = isUuid(id) ? await readClient(orm.em, businessId, id) : undefined;
    if (!row) throw clientNotFound();
    return toClientMessage(row);
  };
