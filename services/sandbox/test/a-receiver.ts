import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Json } from "./a-sandbox.ts";

export interface Received {
  readonly headers: Record<string, string | string[] | undefined>;
  /** The bytes that were signed. */
  readonly raw: string;
  readonly body: Json;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Every callback that arrived whole, in order. */
  readonly received: Received[];
  /** Arrivals that broke off. */
  readonly broken: { count: number };
  readonly types: () => string[];
  /** How the next callbacks are answered; 204 when nothing is left. */
  answerNext(...statuses: number[]): void;
  /** Of one application only. */
  of(reference: string): Received[];
}

/** What our own service would be: it takes callbacks and writes them down. */
export async function aReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const broken = { count: 0 };
  const answers: number[] = [];
  const server = createServer(async (request, response: ServerResponse) => {
    try {
      const raw = await text(request);
      received.push({ headers: request.headers, raw, body: JSON.parse(raw) });
      response.writeHead(answers.shift() ?? 204).end();
    } catch {
      broken.count += 1;
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks/kyc`,
    received,
    broken,
    types: () => received.map(({ body }) => body.type.replace("application.", "")),
    answerNext: (...statuses) => void answers.push(...statuses),
    of: (reference) => received.filter(({ body }) => body.application.reference === reference),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
