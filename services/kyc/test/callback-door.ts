import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type KycApplicationService, ProviderCallbackResult } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { platformCaller, type RpcClient } from "@amana/rpc";

/** What the gateway does with /callbacks/kyc: body and signature in, a status out. */
export async function openCallbackDoor(kyc: () => RpcClient<typeof KycApplicationService> | undefined) {
  const answers: number[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const signature = String(incoming.headers["x-provider-signature"] ?? "");
    const status = await kyc()
      ?.receiveProviderCallback({ body: Buffer.concat(chunks), signature }, { caller: platformCaller })
      .then(
        ({ result }) => (result === ProviderCallbackResult.ACCEPTED ? 204 : 401),
        () => 503,
      );
    answers.push(status ?? 503);
    response.writeHead(status ?? 503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/callbacks/kyc`,
    answers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
