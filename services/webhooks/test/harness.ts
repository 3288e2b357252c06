import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import type { Message } from "@amana/messaging";
import { createRpcClient } from "@amana/rpc";
import { startTestService } from "@amana/service-host/testing";
import { eventually } from "@amana/testing";
import { type Context, createAttemptSums } from "../src/context.ts";
import { ConcurrencyLimits, type DeliveryLimits } from "../src/delivery/concurrency-limits.ts";
import { startDelivering } from "../src/delivery/delivery-worker.ts";
import { webhooks } from "../src/service.ts";

export interface HarnessOptions {
  readonly allowInsecure?: boolean;
  /** Settings of the delivery worker. If false, the service runs without this worker. */
  readonly deliver?: Partial<Context["delivery"] & DeliveryLimits> | false;
  /** Time for which the service uses sums of attempts. Default: 0. */
  readonly attemptSumsMs?: number;
}

export type Harness = Awaited<ReturnType<typeof startHarness>>;

/**
 * Starts the webhooks service with a new database and real RPC. By default, endpoints at loopback
 * addresses are allowed.
 */
export async function startHarness(options: HarnessOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const clock = { nowMs: undefined as number | undefined, now: () => new Date(clock.nowMs ?? Date.now()) };
  const { total = 64, perBusiness = 64, perEndpoint = 8, ...delivery } = options.deliver || {};
  const service = stack.use(
    await startTestService(webhooks, {
      settings: { ...webhooksSettings, ALLOW_INSECURE_WEBHOOKS: String(options.allowInsecure ?? true) },
      clock,
      contextOverrides: {
        delivery: {
          pausesMs: [0, 0, 0, 0, 0, 0, 0],
          timeoutMs: 10_000,
          stopMs: 8_000,
          leaseMs: (delivery.timeoutMs ?? 10_000) + 20_000,
          attemptsPerDayMax: 1_000_000,
          ...delivery,
        },
        limits: new ConcurrencyLimits({ total, perBusiness, perEndpoint }),
        attemptSums: createAttemptSums({ limitMs: options.attemptSumsMs ?? 0, healthMs: options.attemptSumsMs ?? 0 }),
      },
    }),
  );
  const { context, channel } = service;
  if (options.deliver !== false) stack.use(startDelivering(context));
  const running = stack.move();

  return {
    ...service,
    orm: context.orm,
    clock,
    endpoints: createRpcClient(WebhookEndpointService, channel),
    events: createRpcClient(EventService, channel),
    publish: (...messages: Message[]) => service.publish("payments.v1", ...messages),
    publishTo: service.publish,
    /** Waits until no delivery is due or in flight. */
    waitUntilIdle: () =>
      eventually(async () => {
        context.signals.emit("due");
        // Uses clock_timestamp(), because now() may be earlier than the due time of a retry that
        // the statement already reads.
        const unfinished = await service.sql(
          "select id from delivery where status = 'PENDING' and (lease_token is not null or next_attempt_at <= clock_timestamp())",
        );
        if (unfinished.length > 0) throw new Error(`${unfinished.length} deliveries are due or in flight`);
      }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/**
 * Inserts `count` past events, each with one delivery to the endpoint `id`. Three consecutive
 * events have the same time, so that their order depends on the event id.
 */
export async function addOldEvents(
  { sql }: Pick<Harness, "sql">,
  target: {
    readonly caller: { readonly businessId: string };
    readonly id: string;
    readonly count: number;
    readonly hoursAgo: number;
    readonly status: string;
    readonly type?: string;
    readonly nextAttemptInHours?: number;
  },
) {
  await sql(
    `with new_event as (
       insert into event (id, business_id, type, body, created_at)
       select uuidv7(), ?, ?, '{}', now() - make_interval(hours => ?) + n / 3 * interval '1 millisecond' from generate_series(1, ?) n
       returning id, business_id, created_at
     )
     insert into delivery (id, business_id, event_id, endpoint_id, status, created_at, next_attempt_at)
     select uuidv7(), business_id, id, ?, ?, created_at, case when ? = 'PENDING' then now() + make_interval(hours => ?) end from new_event`,
    [
      target.caller.businessId,
      target.type ?? "PAYMENT_REFUNDED",
      target.hoursAgo,
      target.count,
      target.id,
      target.status,
      target.status,
      target.nextAttemptInHours ?? 0,
    ],
  );
}

/** Settings that the webhooks service needs in addition to the settings of all services. */
export const webhooksSettings = {
  SECRET_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
  ALLOW_INSECURE_WEBHOOKS: "true",
};

export interface ReceivedRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Starts a webhook receiver at a loopback address. `respond` gets the number of the request,
 * counted from 1.
 */
export async function startReceiver(
  respond: (response: ServerResponse, number: number, request: ReceivedRequest) => void = (response) => response.end(),
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
    respond(response, requests.length, request);
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
