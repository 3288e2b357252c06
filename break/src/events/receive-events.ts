import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Random } from "../random.ts";

/**
 * A business's endpoint that keeps every body by the id it came with, and refuses some at first, so
 * that they come again.
 */
export async function receiveEvents(random: Random) {
  const bodies = new Map<string, string[]>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const id = String(request.headers["webhook-id"]);
    const known = bodies.get(id) ?? [];
    known.push(Buffer.concat(chunks).toString("utf8"));
    bodies.set(id, known);
    response.writeHead(known.length === 1 && random.chance(0.05) ? 503 : 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    bodies: bodies as ReadonlyMap<string, readonly string[]>,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
