import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sleep } from "@amana/runtime";
import { request } from "undici";

/**
 * A fault of the proxy for one call:
 *
 * - "deliver_late" forwards the call after `ms`, even if payments has disconnected.
 * - "drop" resets the connection and does not forward the call.
 * - "lose_answer" forwards the call, and resets the connection in place of a response.
 * - "hold_answer" forwards the call, and sends the response after `ms`.
 *
 * The values must not change, because stored schedules contain them.
 */
export interface ProxyFault {
  readonly kind: "deliver_late" | "drop" | "lose_answer" | "hold_answer";
  readonly ms: number;
}

export interface ProcessorProxy extends AsyncDisposable {
  readonly url: string;
  /** URL of the processor. The caller sets it after the start of the system. */
  target: string;
  /** Applies the fault to the next refund call for this order, or for any order. */
  plan(orderId: string | "any", fault: ProxyFault): void;
  /** Removes planned faults that affected no call. Returns true if there was such a fault. */
  clear(): boolean;
}

/** Starts a proxy between the payments service and the card processor, with faults on request. */
export async function startProcessorProxy(): Promise<ProcessorProxy> {
  const plans = new Map<string, ProxyFault>();
  const server = createServer((incoming, outgoing) => {
    forward(incoming, outgoing).catch(() => incoming.socket.resetAndDestroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: ProcessorProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: "",
    plan: (orderId, fault) => void plans.set(orderId, fault),
    clear() {
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

  async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const orderId = new URLSearchParams(body.toString()).get("orderId") ?? "";
    const isRefund = incoming.url?.endsWith("/refund.do");
    const planKey = [orderId, "any"].find((key) => plans.has(key)) ?? "";
    const fault = isRefund ? plans.get(planKey) : undefined;
    if (fault) plans.delete(planKey);
    const sendToProcessor = () =>
      request(`${proxy.target}${incoming.url}`, {
        method: "POST",
        headers: { "content-type": incoming.headers["content-type"] ?? "" },
        body,
        headersTimeout: 70_000,
      });

    if (fault?.kind === "drop") return void incoming.socket.resetAndDestroy();
    if (fault?.kind === "deliver_late") await sleep(fault.ms);
    const response = await sendToProcessor();
    const text = await response.body.text();
    if (fault?.kind === "lose_answer") return void incoming.socket.resetAndDestroy();
    if (fault?.kind === "hold_answer") await sleep(fault.ms);
    outgoing
      .writeHead(response.statusCode, { "content-type": String(response.headers["content-type"] ?? "text/plain") })
      .end(text);
  }
}
