import { ClientService, ClientStanding } from "@amana/contracts/clients/v1/client_service_pb";
import { type EnumName, enumName } from "@amana/contracts/enum-names";
import { createRpcChannel, createRpcClient, platformCaller, type RpcChannelOptions, unavailable } from "@amana/rpc";
import { Code, ConnectError } from "@connectrpc/connect";

const timeoutMs = 4_000;

/**
 * RPC client of the clients service. kyc uses it to decide whether an application may belong to a
 * client.
 */
export interface Clients {
  /**
   * Returns whether a client is GOOD or BLOCKED. Returns UNKNOWN if the business has no client with
   * this id. Throws `service_unavailable` if no response arrives.
   */
  readStanding(businessId: string, clientId: string): Promise<EnumName<typeof ClientStanding>>;
}

export function createClients(options: Omit<RpcChannelOptions, "audience">): Clients & AsyncDisposable {
  const channel = createRpcChannel({ ...options, audience: "clients" });
  const clients = createRpcClient(ClientService, channel);
  return {
    async readStanding(businessId, clientId) {
      const { standing } = await clients
        .getClientStanding({ businessId, clientId }, { caller: platformCaller, timeoutMs })
        .catch(throwUnavailable);
      const name = enumName(ClientStanding, standing);
      if (!name) throw new Error(`the clients service returned the unknown standing ${standing}`);
      return name;
    },
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}

/**
 * Converts a timeout to `service_unavailable`, because the request only reads and can be sent
 * again.
 */
function throwUnavailable(error: unknown): never {
  if (!(error instanceof ConnectError) || error.code !== Code.DeadlineExceeded) throw error;
  throw unavailable("service_unavailable", "The clients service did not respond in time. Send the request again in a moment.");
}
