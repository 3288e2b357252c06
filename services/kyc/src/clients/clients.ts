import { ClientService, ClientStanding } from "@amana/contracts/clients/v1/client_service_pb";
import { type EnumName, enumName } from "@amana/contracts/enum-names";
import { createRpcChannel, createRpcClient, platformCaller, type RpcChannelOptions, unavailable } from "@amana/rpc";
import { Code, ConnectError } from "@connectrpc/connect";

const timeoutMs = 4_000;

/** The clients service as this one sees it: whether a verification may be linked to a client. */
export interface Clients {
  /** UNKNOWN also for a client of another business. */
  standing(businessId: string, clientId: string): Promise<EnumName<typeof ClientStanding>>;
}

/** It over RPC. While it cannot be asked, whoever needs the answer is refused as unavailable. */
export function createClients(options: Omit<RpcChannelOptions, "audience">): Clients & AsyncDisposable {
  const channel = createRpcChannel({ ...options, audience: "clients" });
  const clients = createRpcClient(ClientService, channel);
  return {
    async standing(businessId, clientId) {
      const { standing } = await clients
        .getClientStanding({ businessId, clientId }, { caller: platformCaller, timeoutMs })
        .catch(refuseAsUnavailable);
      const known = enumName(ClientStanding, standing);
      if (!known) throw new Error(`the clients service answered with the standing ${standing}`);
      return known;
    },
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}

/** Nothing was begun yet, so a slow answer is no different from none. */
function refuseAsUnavailable(error: unknown): never {
  if (!(error instanceof ConnectError) || error.code !== Code.DeadlineExceeded) throw error;
  throw unavailable("service_unavailable", "The client could not be looked up in time. Try again in a moment.");
}
