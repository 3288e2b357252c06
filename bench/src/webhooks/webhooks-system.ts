import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiCaller } from "@amana/dev-env/demo/api";
import { createProgress } from "@amana/dev-env/progress";
import { type System, startSystem } from "@amana/dev-env/system";
import { measureLoad, startBareServer } from "../bare-server.ts";
import { createPaidPayment } from "../paid-payment.ts";
import { log } from "../table.ts";
import { type Child, startChild } from "./child.ts";
import type { ProduceReply, ProduceRequest } from "./producer.ts";
import type { ReceiversReply, ReceiversRequest } from "./receivers.ts";

type Producer = Child<ProduceRequest, ProduceReply>;

/** A business. `endpoints` has the indexes of its endpoints in the child process `receivers`. */
export interface Business {
  readonly id: string;
  readonly endpoints: readonly number[];
  readonly endpointIds: readonly string[];
}

/** Figures of the bare server of `bench reads`, which are measured in the same run. */
export interface BareFigures {
  readonly perSecond: number;
  readonly cpuUs: number;
}

/**
 * A system in which a producer replaces the payments service, with receivers for the businesses.
 */
export interface WebhooksSystem extends AsyncDisposable {
  readonly system: System;
  readonly bare: BareFigures;
  readonly producer: Producer;
  /** A second producer, which can commit other events at the same time. */
  readonly secondProducer: Producer;
  readonly receivers: Child<ReceiversRequest, ReceiversReply>;
  /** Creates a business with this number of endpoints. */
  addBusiness(endpoints: number): Promise<Business>;
  /** Creates a business with endpoints at these URLs. No server must listen at them. */
  addDeadBusiness(urls: readonly string[]): Promise<Business>;
}

const unusedServices = ["payments", "kyc", "clients", "sandbox"] as const;

/**
 * Starts producers and receivers for a system, and stops the services that the benchmark does not
 * use. These services stay stopped. Default of `running`: a new system.
 */
export async function startWebhooksSystem(
  events: "direct" | "kafka",
  bareSeconds: number,
  running?: System,
): Promise<WebhooksSystem> {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const unlimited = { RATE_LIMIT_PER_SECOND: "0", RATE_LIMIT_CREATION_PER_SECOND: "0" };
  const system =
    running ?? stack.use(await startSystem({ dir, events, progress: createProgress(), env: { gateway: unlimited } }));
  const bare = await measureBare(system, bareSeconds);
  await Promise.all(unusedServices.map((name) => system.services[name].stop()));
  const startProducer = () => startChild<ProduceRequest, ProduceReply>("producer.ts", system.envOf("payments"));
  const receivers = stack.use(await startChild<ReceiversRequest, ReceiversReply>("receivers.ts"));
  const producer = stack.use(await startProducer());
  const secondProducer = stack.use(await startProducer());
  const resources = stack.move();
  return {
    system,
    bare,
    producer,
    secondProducer,
    receivers,
    async addBusiness(count) {
      const { ports } = await receivers.request({ open: count });
      const endpoints = Array.from({ length: count }, (_, i) => ports.length - count + i);
      const created = await addBusiness(
        system,
        endpoints.map((endpoint) => `http://127.0.0.1:${ports[endpoint]}/amana`),
      );
      return { ...created, endpoints };
    },
    addDeadBusiness: async (urls) => ({ ...(await addBusiness(system, urls)), endpoints: [] }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function measureBare(system: System, seconds: number): Promise<BareFigures> {
  await using stack = new AsyncDisposableStack();
  const path = `/api/v1/payments/${await createPaidPayment(system)}`;
  const server = await startBareServer(stack, join("reads", "bare-fastify-pg.ts"), {
    IDENTITY_DATABASE_URL: system.databaseUrls["identity"] ?? "",
    PAYMENTS_DATABASE_URL: system.databaseUrls["payments"] ?? "",
  });
  const run = (duration: number) => measureLoad("bare", server.url, system.business.api_key, duration, [server.pid], [path]);
  await run(Math.min(2, seconds));
  const { perSecond, cpuUs } = await run(seconds);
  log(`bare server of bench reads: ${perSecond.toFixed(0)} requests/s at ${cpuUs.toFixed(0)} µs`);
  return { perSecond, cpuUs };
}

async function addBusiness(system: System, urls: readonly string[]): Promise<Omit<Business, "endpoints">> {
  const created = await apiCaller(system.gatewayUrl, system.adminKey)("POST", "/api/v1/businesses", { name: "Bench" });
  const call = apiCaller(system.gatewayUrl, String(created.body["api_key"]));
  const endpointIds: string[] = [];
  for (const url of urls) {
    const response = await call("POST", "/api/v1/webhook-endpoints", { url });
    if (response.status !== 201) throw new Error(`the endpoint was rejected: ${response.status} ${response.text}`);
    endpointIds.push(String(response.body["id"]));
  }
  return { id: String(created.body["id"]), endpointIds };
}
