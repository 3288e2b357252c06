import { buffer } from "node:stream/consumers";
import { verifyWebhook, verifyXSignature } from "@amana/client";
import { waitUntil } from "../eventually.ts";
import { listen } from "./listen.ts";

export interface ReceivedWebhook {
  readonly event: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The raw body. */
  readonly text: string;
  readonly receivedAtMs: number;
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/**
 * Starts the webhook receiver of a business. It rejects a delivery if one of the two signatures is
 * missing or invalid.
 */
export async function startReceiver() {
  let secret = "";
  const received: ReceivedWebhook[] = [];
  const refused: string[] = [];

  const server = await listen(async (request, response) => {
    const rawBody = await buffer(request);
    try {
      verifyXSignature(request.headers, rawBody, [secret]);
      const { event, body } = verifyWebhook(request.headers, rawBody, { secrets: [secret] });
      received.push({ event, body, text: rawBody.toString("utf8"), receivedAtMs: performance.now() });
      response.writeHead(204).end();
    } catch (error) {
      refused.push((error as Error).message);
      response.writeHead(401).end();
    }
  });

  return {
    ...server,
    url: `${server.url}/amana`,
    received: received as readonly ReceivedWebhook[],
    /** Reasons of rejected deliveries. */
    refused: refused as readonly string[],
    useSecret(value: string) {
      secret = value;
    },
    /** Returns the first webhook of this event about this payment or application, or undefined. */
    async next(event: string, resourceId: string, timeoutMs: number): Promise<ReceivedWebhook | undefined> {
      const find = () =>
        received.find(
          (webhook) => webhook.event === event && (webhook.body["payment_id"] ?? webhook.body["application_id"]) === resourceId,
        );
      await waitUntil(() => find() !== undefined, timeoutMs);
      return find();
    },
  };
}
