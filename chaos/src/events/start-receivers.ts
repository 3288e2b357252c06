import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { verifyWebhook } from "@amana/client";
import type { Random } from "../random.ts";

/** A POST whose body was received completely. */
export interface Arrival {
  readonly body: string;
  /** True if the response had a 2xx status, so that webhooks should not send the event again. */
  readonly isAccepted: boolean;
  /** True if the receiver sent no response. */
  readonly hasNoResponse: boolean;
}

/** An endpoint with the webhooks that it received. */
export interface Receiver {
  readonly url: string;
  /** Received webhooks by their `webhook-id`. */
  readonly arrivals: ReadonlyMap<string, readonly Arrival[]>;
  /** Accepts webhooks, responds with 503, or sends no response. */
  behaviour: "accepting" | "failing" | "hanging";
  /** If set, the receiver rejects webhooks with an invalid signature or timestamp. */
  secret: string | undefined;
}

/** Starts `count` endpoints. Each endpoint rejects the first attempt of 5 % of the events. */
export async function startReceivers(random: Random, count: number) {
  let rejectedSignatures = 0;
  const receivers: (Omit<Receiver, "arrivals"> & { arrivals: Map<string, Arrival[]> })[] = [];

  const isRejected = (
    receiver: Pick<Receiver, "behaviour" | "secret">,
    request: IncomingMessage,
    body: string,
    isFirst: boolean,
  ) => {
    if (receiver.behaviour === "failing" || (isFirst && random.chance(0.05))) return true;
    if (receiver.secret === undefined) return false;
    try {
      verifyWebhook(request.headers, body, { secrets: [receiver.secret] });
      return false;
    } catch {
      rejectedSignatures++;
      return true;
    }
  };

  const server = createServer(async (request, response) => {
    const receiver = receivers[Number(request.url?.slice(1))];
    const body = await readText(request);
    if (!receiver || body === undefined) return;
    const id = String(request.headers["webhook-id"]);
    const previousArrivals = receiver.arrivals.get(id) ?? [];
    receiver.arrivals.set(id, previousArrivals);
    const hasNoResponse = receiver.behaviour === "hanging";
    const isAccepted = !hasNoResponse && !isRejected(receiver, request, body, previousArrivals.length === 0);
    previousArrivals.push({ body, isAccepted, hasNoResponse });
    if (!hasNoResponse) response.writeHead(isAccepted ? 204 : 503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  for (let i = 0; i < count; i++) {
    receivers.push({ url: `http://127.0.0.1:${port}/${i}`, arrivals: new Map(), behaviour: "accepting", secret: undefined });
  }
  return {
    receivers: receivers as readonly Receiver[],
    countRejectedSignatures: () => rejectedSignatures,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Reads a body. Returns undefined if the sender disconnected before the end of the body. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString("utf8");
  } catch {
    return undefined;
  }
}
