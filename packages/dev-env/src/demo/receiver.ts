import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";

export interface ReceivedWebhook {
  readonly event: string;
  readonly body: Record<string, unknown>;
  /** The body as it came. */
  readonly text: string;
  readonly receivedAtMs: number;
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/**
 * A business's webhook receiver: believes nothing that is not signed. The Standard Webhooks headers are checked by the
 * scheme's own library, X-Signature by HMAC-SHA256 over the raw body.
 */
export async function startReceiver() {
  let secret = "";
  const received: ReceivedWebhook[] = [];
  const refused: string[] = [];
  const waiting = new Set<() => void>();

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    try {
      const headers = request.headers as Record<string, string>;
      new Webhook(secret).verify(raw.toString("utf8"), headers);
      const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(raw).digest("hex")}`);
      const given = Buffer.from(headers["x-signature"] ?? "");
      if (expected.length !== given.length || !timingSafeEqual(expected, given)) throw new Error("X-Signature does not match");
      const text = raw.toString("utf8");
      const body = JSON.parse(text) as Record<string, unknown>;
      received.push({ event: String(body["event"]), body, text, receivedAtMs: performance.now() });
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
    /** The first webhook of this event about this payment or application; undefined when none comes in time. */
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
