import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { waitUntil } from "@amana/dev-env/eventually";
import { request } from "undici";

/**
 * A fault of the proxy for one request:
 *
 * - "lose_answer" forwards the request, and resets the connection in place of a response.
 * - "cut_answer" forwards the request, and sends half of the response.
 * - "hold_answer" forwards the request, and sends no response.
 * - "drop" resets the connection, and does not forward the request.
 * - An object is the response of an intermediary.
 */
export type Fault =
  | "lose_answer"
  | "cut_answer"
  | "hold_answer"
  | "drop"
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body: unknown };

export interface FaultProxy extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts a proxy between a client and the API. `PUT /faults` plans a list of faults, one for each
 * of the next requests. Its response has the numbers of requests, distinct keys and distinct bodies
 * since the previous `PUT /faults`. `POST /webhooks` receives a webhook. `GET /webhooks` waits for
 * a webhook that contains all values of the query, and returns this webhook.
 */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let planned: Fault[] = [];
  let received: { key: string; body: string }[] = [];
  const webhooks: { headers: object; body: string }[] = [];
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    if (incoming.url?.startsWith("/webhooks")) return await handleWebhook(incoming, outgoing, body.toString());
    if (incoming.url === "/faults") {
      const count = (values: string[]) => new Set(values).size;
      const counts = {
        requests: received.length,
        keys: count(received.map(({ key }) => key)),
        bodies: count(received.map((entry) => entry.body)),
      };
      planned = JSON.parse(body.toString()) as Fault[];
      received = [];
      outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(counts));
      return;
    }
    received.push({ key: String(incoming.headers["idempotency-key"]), body: body.toString() });
    await forward(incoming, outgoing, body, planned.shift());
  }

  async function handleWebhook({ method, url, headers }: IncomingMessage, outgoing: ServerResponse, body: string) {
    if (method === "POST") {
      webhooks.push({ headers, body });
      return void outgoing.writeHead(204).end();
    }
    const { searchParams } = new URL(`http://proxy${url}`);
    const matchesQuery = (webhook: { body: string }) =>
      [...searchParams.values()].every((value) => webhook.body.includes(`"${value}"`));
    await waitUntil(() => webhooks.some(matchesQuery), 90_000);
    outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(webhooks.find(matchesQuery) ?? null));
  }

  async function forward(incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer, fault: Fault | undefined) {
    if (fault === "drop") return void incoming.socket.resetAndDestroy();
    if (typeof fault === "object") {
      const text = typeof fault.body === "string" ? fault.body : JSON.stringify(fault.body);
      return void outgoing.writeHead(fault.status, fault.headers).end(text);
    }
    const {
      host: _,
      connection: __,
      "content-length": ___,
      "transfer-encoding": ____,
      expect: _____,
      ...headers
    } = incoming.headers;
    const response = await request(`${target}${incoming.url}`, {
      method: incoming.method as "GET",
      headers,
      body: body.length > 0 ? body : null,
      headersTimeout: 60_000,
    });
    const text = Buffer.from(await response.body.arrayBuffer());
    if (fault === "lose_answer") return void incoming.socket.resetAndDestroy();
    if (fault === "hold_answer") return;
    const { connection: _c, "transfer-encoding": _t, ...forwardedHeaders } = response.headers;
    outgoing.writeHead(response.statusCode, { ...forwardedHeaders, "content-length": String(text.length) } as Record<
      string,
      string
    >);
    if (fault !== "cut_answer") return void outgoing.end(text);
    outgoing.write(text.subarray(0, text.length / 2), () => incoming.socket.destroy());
  }
}
