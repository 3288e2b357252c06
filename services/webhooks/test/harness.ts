import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { consume, createTransport, type Message } from "@amana/messaging";
import { createRpcClient } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { createSecretBox } from "@amana/secret-box";
import { createTestDatabase, startTestServer, testEventKeys } from "@amana/testing";
import { kyc } from "../src/consumers/kyc.ts";
import { payments } from "../src/consumers/payments.ts";
import { type DelivererOptions, startDelivering } from "../src/delivery/deliver.ts";
import { database } from "../src/orm.ts";
import { rpcServices } from "../src/rpc/index.ts";
import { createAddressGuard, type Resolve } from "../src/webhook-endpoint/address-guard.ts";

export interface HarnessOptions {
  readonly allowInsecure?: boolean;
  readonly resolve?: Resolve;
  /** Starts the deliverer unless false. */
  readonly deliver?: Partial<DelivererOptions> | false;
}

export type Harness = Awaited<ReturnType<typeof startHarness>>;

/** The service on a database of its own, over real RPC, with loopback receivers allowed. */
export async function startHarness(options: HarnessOptions = {}) {
  const stack = new AsyncDisposableStack();
  const logger = createLogger("test", process.env["TEST_LOG_LEVEL"] ?? "silent");
  const { orm, url } = stack.use(await createTestDatabase("webhooks", database));
  const clock = { nowMs: undefined as number | undefined, now: () => new Date(clock.nowMs ?? Date.now()) };
  const secrets = createSecretBox([{ id: "k1", key: Buffer.alloc(32, 7) }]);
  const addresses = createAddressGuard({
    allowInsecure: options.allowInsecure ?? true,
    ...(options.resolve ? { resolve: options.resolve } : {}),
  });
  const delivererOptions = {
    orm,
    logger,
    clock,
    secrets,
    addresses,
    pausesMs: [0, 0, 0, 0, 0, 0, 0],
    concurrency: 64,
    businessConcurrency: 64,
    endpointConcurrency: 8,
    ...(options.deliver === false ? {} : options.deliver),
  };
  const transport = stack.use(await openTransport());
  const deliverer = options.deliver === false ? undefined : stack.use(startDelivering(delivererOptions));
  const wake = () => deliverer?.wake();
  stack.use(await consume(payments(wake), { orm, transport, logger }));
  stack.use(await consume(kyc(wake), { orm, transport, logger }));
  const context = { orm, logger, clock, secrets, addresses, deliveries: { wake } };
  const { channel, url: rpcUrl } = stack.use(await startTestServer([...rpcServices(context), ...transport.services]));
  const emitting = stack.use(await openTransport(rpcUrl));

  return {
    orm,
    databaseUrl: url,
    clock,
    delivererOptions,
    endpoints: createRpcClient(WebhookEndpointService, channel),
    events: createRpcClient(EventService, channel),
    /** Resolves when the messages' effects are committed. */
    async publish(...messages: Message[]) {
      await emitting.publish("payments.v1", messages);
    },
    async publishTo(topic: string, ...messages: Message[]) {
      await emitting.publish(topic, messages);
    },
    async settled() {
      await deliverer?.settled();
    },
    async sql<Row = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
      return await orm.em.fork().execute<Row[]>(text, values);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A transport to the service at `url`, or of a service that only receives. */
export function openTransport(url?: string) {
  const topics = ["payments.v1", "kyc.v1"];
  const subscribers = url === undefined ? {} : Object.fromEntries(topics.map((topic) => [topic, [url]]));
  const context = { clientId: "test", logger: createLogger("test", "silent") };
  return createTransport({ kind: "direct", subscribers, keys: testEventKeys(...topics) }, context);
}

export interface ReceivedRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A business's server on loopback. `answer` gets the number of the request, from 1. */
export async function startReceiver(
  answer: (response: ServerResponse, number: number, request: ReceivedRequest) => void = (response) => response.end(),
) {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = {
      path: incoming.url ?? "",
      method: incoming.method ?? "",
      headers: incoming.headers,
      body: Buffer.concat(chunks),
    };
    requests.push(request);
    answer(response, requests.length, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
