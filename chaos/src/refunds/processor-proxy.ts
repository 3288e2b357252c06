import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sleep } from "@amana/runtime";
import { request } from "undici";

/**
 * What the way to the processor does to one call. "deliver_late": kept and handed on that much
 * later, whether or not the client is still there. "drop": never handed on, the connection breaks.
 * "lose_answer": handed on at once, the connection breaks instead of the answer. "hold_answer":
 * handed on at once, the answer comes that much later.
 */
export interface Trouble {
  readonly kind: "deliver_late" | "drop" | "lose_answer" | "hold_answer";
  readonly ms: number;
}

export interface ProcessorProxy extends AsyncDisposable {
  readonly url: string;
  /** Where the processor listens: known only once the system runs. */
  target: string;
  /** The next refund call about this order meets the trouble, or about any. */
  plan(orderId: string | "any", trouble: Trouble): void;
  /** Takes back what was not met. Answers whether there was any. */
  forget(): boolean;
}

/**
 * Stands between the payments service and the card processor, and hands on each call when it likes.
 */
export async function startProcessorProxy(): Promise<ProcessorProxy> {
  const plans = new Map<string, Trouble>();
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.resetAndDestroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: ProcessorProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: "",
    plan: (orderId, trouble) => void plans.set(orderId, trouble),
    forget() {
      const { size } = plans;
      plans.clear();
      return size > 0;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const orderId = new URLSearchParams(body.toString()).get("orderId") ?? "";
    const isRefund = incoming.url?.endsWith("/refund.do");
    const planned = [orderId, "any"].find((key) => plans.has(key)) ?? "";
    const trouble = isRefund ? plans.get(planned) : undefined;
    if (trouble) plans.delete(planned);
    const handOn = () =>
      request(`${proxy.target}${incoming.url}`, {
        method: "POST",
        headers: { "content-type": incoming.headers["content-type"] ?? "" },
        body,
        headersTimeout: 70_000,
      });

    if (trouble?.kind === "drop") return void incoming.socket.resetAndDestroy();
    if (trouble?.kind === "deliver_late") await sleep(trouble.ms);
    const answer = await handOn();
    const text = await answer.body.text();
    if (trouble?.kind === "lose_answer") return void incoming.socket.resetAndDestroy();
    if (trouble?.kind === "hold_answer") await sleep(trouble.ms);
    outgoing.writeHead(answer.statusCode, { "content-type": String(answer.headers["content-type"] ?? "text/plain") }).end(text);
  }
}
