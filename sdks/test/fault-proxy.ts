import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { until } from "@amana/dev-env/eventually";
import { request } from "undici";

/**
 * What the way to the API does to one request. "lose_answer": handed on, the connection breaks
 * instead of the answer. "cut_answer": half of it comes. "hold_answer": handed on, no answer ever.
 * "drop": never handed on, the connection breaks. Otherwise the answer of something in between.
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
 * Stands between a client and the API. `PUT /faults` with a list: the next requests meet them, one
 * each. It answers how many requests came since the last time, and under how many different keys.
 * `/webhooks` takes webhooks in, and hands out the one of an `event` `about` something.
 */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let planned: Fault[] = [];
  let seen: { key: string; body: string }[] = [];
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
      const tally = {
        requests: seen.length,
        keys: count(seen.map(({ key }) => key)),
        bodies: count(seen.map((one) => one.body)),
      };
      planned = JSON.parse(body.toString()) as Fault[];
      seen = [];
      outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(tally));
      return;
    }
    seen.push({ key: String(incoming.headers["idempotency-key"]), body: body.toString() });
    await pass(incoming, outgoing, body, planned.shift());
  }

  async function handleWebhook({ method, url, headers }: IncomingMessage, outgoing: ServerResponse, body: string) {
    if (method === "POST") {
      webhooks.push({ headers, body });
      return void outgoing.writeHead(204).end();
    }
    const { searchParams } = new URL(`http://proxy${url}`);
    const isMeant = (webhook: { body: string }) => [...searchParams.values()].every((word) => webhook.body.includes(`"${word}"`));
    await until(() => webhooks.some(isMeant), 90_000);
    outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(webhooks.find(isMeant) ?? null));
  }

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer, fault: Fault | undefined) {
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
    const answer = await request(`${target}${incoming.url}`, {
      method: incoming.method as "GET",
      headers,
      body: body.length > 0 ? body : null,
      headersTimeout: 60_000,
    });
    const text = Buffer.from(await answer.body.arrayBuffer());
    if (fault === "lose_answer") return void incoming.socket.resetAndDestroy();
    if (fault === "hold_answer") return;
    const { connection: _c, "transfer-encoding": _t, ...kept } = answer.headers;
    outgoing.writeHead(answer.statusCode, { ...kept, "content-length": String(text.length) } as Record<string, string>);
    if (fault !== "cut_answer") return void outgoing.end(text);
    outgoing.write(text.subarray(0, text.length / 2), () => incoming.socket.destroy());
  }
}
