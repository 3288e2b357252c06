import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { verifyWebhook, verifyXSignature } from "@amana/webhook-receiver";

export interface ReceivedWebhook {
  readonly event: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The body as it came. */
  readonly text: string;
  readonly receivedAtMs: number;
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** A business's webhook receiver: believes nothing that is not signed by both schemes. */
export async function startReceiver() {
  let secret = "";
  const received: ReceivedWebhook[] = [];
  const refused: string[] = [];
  const waiting = new Set<() => void>();

  const server = createServer(async (request, response) => {
    const raw = await buffer(request);
    try {
      verifyXSignature(request.headers, raw, { secrets: secret });
      const { event, body } = verifyWebhook(request.headers, raw, { secrets: secret });
      received.push({ event, body, text: raw.toString("utf8"), receivedAtMs: performance.now() });
      response.writeHead(204).end();
    } catch (error) {
      refused.push((error as Error).message);
      response.writeHead(401).end();
    }
    for (const wake of waiting) wake();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/amana`,
    received: received as readonly ReceivedWebhook[],
    /** Why deliveries were not believed. */
    refused: refused as readonly string[],
    useSecret(value: string) {
      secret = value;
    },
    /**
     * The first webhook of this event about this payment or application; undefined when none comes
     * in time.
     */
    async next(event: string, about: string, timeoutMs: number): Promise<ReceivedWebhook | undefined> {
      const endsAtMs = performance.now() + timeoutMs;
      for (;;) {
        const found = received.find(
          (webhook) => webhook.event === event && (webhook.body["payment_id"] ?? webhook.body["application_id"]) === about,
        );
        const leftMs = endsAtMs - performance.now();
        if (found || leftMs <= 0) return found;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, leftMs);
          waiting.add(() => {
            clearTimeout(timer);
            resolve();
          });
        });
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
