import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type KycApplicationService, ProviderCallbackResult } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { platformCaller, type RpcClient } from "@amana/rpc";

/**
 * Starts a server that forwards callbacks to kyc, as the gateway does at /callbacks/kyc. `kyc`
 * returns the RPC client of kyc, or undefined to reject callbacks with status 503.
 */
export async function startCallbackServer(kyc: () => RpcClient<typeof KycApplicationService> | undefined) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    // The last segment of a path like /callbacks/kyc/didit names the vendor.
    const provider = request.url?.split("/")[3] ?? "port";
    const status = await kyc()
      ?.receiveProviderCallback({ body: Buffer.concat(chunks), provider, headers }, { caller: platformCaller })
      .then(
        ({ result }) => (result === ProviderCallbackResult.ACCEPTED ? 204 : 401),
        () => 503,
      );
    response.writeHead(status ?? 503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/callbacks/kyc`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
