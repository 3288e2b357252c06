import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Json } from "./a-sandbox.ts";

export interface ReceivedCallback {
  readonly path: string;
  readonly headers: Record<string, string | string[] | undefined>;
  /** The signed body. */
  readonly raw: string;
  readonly body: Json;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Callbacks that arrived completely, in order. */
  readonly received: ReceivedCallback[];
  /** Number of callbacks whose body was incomplete. */
  readonly incomplete: { count: number };
  readonly types: () => string[];
  /** Sets the statuses of the next responses. All later responses have status 204. */
  respondNext(...statuses: number[]): void;
  /** Returns the callbacks of one application. */
  of(reference: string): ReceivedCallback[];
}

/** Starts a server that records callbacks, in place of the kyc service. */
export async function aReceiver(): Promise<Receiver> {
  const received: ReceivedCallback[] = [];
  const incomplete = { count: 0 };
  const statuses: number[] = [];
  const server = createServer(async (request, response: ServerResponse) => {
    try {
      const raw = await text(request);
      received.push({ path: request.url ?? "", headers: request.headers, raw, body: JSON.parse(raw) });
      response.writeHead(statuses.shift() ?? 204).end();
    } catch {
      incomplete.count += 1;
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks/kyc`,
    received,
    incomplete,
    types: () => received.map(({ body }) => body.type.replace("application.", "")),
    respondNext: (...next) => void statuses.push(...next),
    of: (reference) => received.filter(({ body }) => body.application.reference === reference),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
