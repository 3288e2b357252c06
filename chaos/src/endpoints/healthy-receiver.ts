import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Starts endpoints that respond at once, one for each path, and records the first arrival of
 * events.
 */
export async function startHealthyReceiver() {
  const arrivedMs = new Map<string, number>();
  const server = createServer((request, response) => {
    const arrival = `${request.url} ${request.headers["webhook-id"]}`;
    if (!arrivedMs.has(arrival)) arrivedMs.set(arrival, performance.now());
    request.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (businessId: string) => `http://127.0.0.1:${port}/${businessId}`,
    arrivedMs: (businessId: string, eventId: string) => arrivedMs.get(`/${businessId} ${eventId}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
