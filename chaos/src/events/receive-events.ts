import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { verifyWebhook } from "@amana/client";
import type { Random } from "../random.ts";

/** A whole POST. */
export interface Arrival {
  readonly body: string;
  /** 2xx was answered: it should not come again. */
  readonly isAccepted: boolean;
  /** Nothing was answered. */
  readonly isUnanswered: boolean;
}

/** An endpoint of a business, and what came there. */
export interface Receiver {
  readonly url: string;
  /** By the id that each came with. */
  readonly arrivals: ReadonlyMap<string, readonly Arrival[]>;
  /** What it does with what comes. */
  mood: "fine" | "failing" | "hanging";
  /** When set, webhooks are verified, their time of sending too, and refused otherwise. */
  secret: string | undefined;
}

/** Endpoints that now and then refuse what comes for the first time, so that it comes again. */
export async function receiveEvents(random: Random, count: number) {
  let refusedForTheirTime = 0;
  const receivers: (Omit<Receiver, "arrivals"> & { arrivals: Map<string, Arrival[]> })[] = [];

  const isRefused = (receiver: Pick<Receiver, "mood" | "secret">, request: IncomingMessage, body: string, isFirst: boolean) => {
    if (receiver.mood === "failing" || (isFirst && random.chance(0.05))) return true;
    if (receiver.secret === undefined) return false;
    try {
      verifyWebhook(request.headers, body, { secrets: [receiver.secret] });
      return false;
    } catch {
      refusedForTheirTime++;
      return true;
    }
  };

  const server = createServer(async (request, response) => {
    const receiver = receivers[Number(request.url?.slice(1))];
    const body = await textOf(request);
    if (!receiver || body === undefined) return;
    const id = String(request.headers["webhook-id"]);
    const known = receiver.arrivals.get(id) ?? [];
    receiver.arrivals.set(id, known);
    const isUnanswered = receiver.mood === "hanging";
    const isAccepted = !isUnanswered && !isRefused(receiver, request, body, known.length === 0);
    known.push({ body, isAccepted, isUnanswered });
    if (!isUnanswered) response.writeHead(isAccepted ? 204 : 503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  for (let i = 0; i < count; i++) {
    receivers.push({ url: `http://127.0.0.1:${port}/${i}`, arrivals: new Map(), mood: "fine", secret: undefined });
  }
  return {
    receivers: receivers as readonly Receiver[],
    refusedForTheirTime: () => refusedForTheirTime,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Undefined when its sender died before the end. */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString("utf8");
  } catch {
    return undefined;
  }
}
