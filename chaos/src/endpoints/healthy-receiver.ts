import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Starts a server that responds at once. Each path is an endpoint. Records the time at which each
 * endpoint received an event for the first time.
 */
export async function startHealthyReceiver() {
  const receivedAtMs = new Map<string, number>();
  const server = createServer((request, response) => {
    const key = `${request.url} ${request.headers["webhook-id"]}`;
    if (!receivedAtMs.has(key)) receivedAtMs.set(key, performance.now());
    request.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (businessId: string) => `http://127.0.0.1:${port}/${businessId}`,
    receivedAtMs: (businessId: string, eventId: string) => receivedAtMs.get(`/${businessId} ${eventId}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
