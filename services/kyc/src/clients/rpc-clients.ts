import { ClientService, ClientStanding } from "@amana/contracts/clients/v1/client_service_pb";
import { createRpcChannel, createRpcClient, platformCaller, type RpcChannelOptions, unavailable } from "@amana/rpc";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Clients } from "./clients.ts";

const timeoutMs = 4_000;

const standings = {
  [ClientStanding.UNKNOWN]: "unknown",
  [ClientStanding.BLOCKED]: "blocked",
  [ClientStanding.GOOD]: "good",
} as const;

/** The clients service over RPC. While it cannot be asked, whoever needs the answer is refused as unavailable. */
export function createClients(options: Omit<RpcChannelOptions, "audience">): Clients & AsyncDisposable {
  const channel = createRpcChannel({ ...options, audience: "clients" });
  const clients = createRpcClient(ClientService, channel);
  return {
    async standing(businessId, clientId) {
      const { standing } = await clients
        .getClientStanding({ businessId, clientId }, { caller: platformCaller, timeoutMs })
        .catch(refuseAsUnavailable);
      const known = standings[standing as keyof typeof standings];
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
