import { type ClientService, ClientStanding } from "@amana/contracts/clients/v1/client_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import { clientView } from "../client/client.message.ts";
import type { Context } from "../context.ts";

export const getClientStanding =
  ({ orm }: Context): Implementation<typeof ClientService.method.getClientStanding> =>
  async ({ businessId, clientId }, { caller }) => {
    const isTheirs = caller.role === "platform" || businessOf(caller) === businessId;
    if (!isTheirs || !isUuid(businessId)) return { standing: ClientStanding.UNKNOWN };
    const client = await clientView.read(orm.em, businessId, clientId);
    if (!client) return { standing: ClientStanding.UNKNOWN };
    return { standing: client.blocked ? ClientStanding.BLOCKED : ClientStanding.GOOD };
  };
