import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiCaller } from "@amana/dev-env/demo/api";
import { createProgress } from "@amana/dev-env/progress";
import { type System, startSystem } from "@amana/dev-env/system";
import { aPaidPayment } from "../a-paid-payment.ts";
import { load, startBareServer } from "../bare-server.ts";
import { say } from "../table.ts";
import { type Child, startChild } from "./child.ts";
import type { Produced, ProduceRequest } from "./producer.ts";
import type { ReceiversReply, ReceiversRequest } from "./receivers.ts";

type Producer = Child<ProduceRequest, Produced>;

/** A business whose events go to these endpoints, by their numbers among the receivers. */
export interface Business {
  readonly id: string;
  readonly endpoints: readonly number[];
  readonly endpointIds: readonly string[];
}

/** The bare server of `bench reads`, at this minute. */
export interface Bare {
  readonly perSecond: number;
  readonly cpuUs: number;
}

/** The whole system with a producer in the place of payments, and the businesses' receivers. */
export interface Stage extends AsyncDisposable {
  readonly system: System;
  readonly bare: Bare;
  readonly producer: Producer;
  /** Another replica of it, for what is to flow at the same time. */
  readonly beside: Producer;
  readonly receivers: Child<ReceiversRequest, ReceiversReply>;
  /** A business with so many endpoints of its own. */
  addBusiness(endpoints: number): Promise<Business>;
  /** One whose endpoints are at these addresses, where nobody is. */
  addDeadBusiness(urls: readonly string[]): Promise<Business>;
}

const notNeeded = ["payments", "kyc", "clients", "sandbox"] as const;

export async function openStage(events: "direct" | "kafka", bareSeconds: number): Promise<Stage> {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const unlimited = { RATE_LIMIT_PER_SECOND: "0", RATE_LIMIT_CREATION_PER_SECOND: "0" };
  const system = stack.use(await startSystem({ dir, events, progress: createProgress(), env: { gateway: unlimited } }));
  const bare = await measureBare(system, bareSeconds);
  await Promise.all(notNeeded.map((name) => system.services[name].stop()));
  const startProducer = () => startChild<ProduceRequest, Produced>("producer.ts", system.envOf("payments"));
  const receivers = stack.use(await startChild<ReceiversRequest, ReceiversReply>("receivers.ts"));
  const producer = stack.use(await startProducer());
  const beside = stack.use(await startProducer());
  const running = stack.move();
  return {
    system,
    bare,
    producer,
    beside,
    receivers,
    async addBusiness(count) {
      const { ports } = await receivers.ask({ open: count });
      const endpoints = Array.from({ length: count }, (_, i) => ports.length - count + i);
      const made = await addBusiness(
        system,
        endpoints.map((endpoint) => `http://127.0.0.1:${ports[endpoint]}/amana`),
      );
      return { ...made, endpoints };
    },
    addDeadBusiness: async (urls) => ({ ...(await addBusiness(system, urls)), endpoints: [] }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function measureBare(system: System, seconds: number): Promise<Bare> {
  await using stack = new AsyncDisposableStack();
  const path = `/api/v1/payments/${await aPaidPayment(system)}`;
  const server = await startBareServer(stack, join("reads", "bare-fastify-pg.ts"), {
    IDENTITY_DATABASE_URL: system.databaseUrls["identity"] ?? "",
    PAYMENTS_DATABASE_URL: system.databaseUrls["payments"] ?? "",
  });
  const run = (duration: number) => load("bare", `${server.url}${path}`, system.business.api_key, duration, [server.pid]);
  await run(Math.min(2, seconds));
  const { perSecond, cpuUs } = await run(seconds);
  say(`the bare server of bench reads: ${perSecond.toFixed(0)} requests/s at ${cpuUs.toFixed(0)} µs`);
  return { perSecond, cpuUs };
}

async function addBusiness(system: System, urls: readonly string[]): Promise<Omit<Business, "endpoints">> {
  const made = await apiCaller(system.gatewayUrl, system.adminKey)("POST", "/api/v1/businesses", { name: "Bench" });
  const call = apiCaller(system.gatewayUrl, String(made.body["api_key"]));
  const endpointIds: string[] = [];
  for (const url of urls) {
    const answer = await call("POST", "/api/v1/webhook-endpoints", { url });
    if (answer.status !== 201) throw new Error(`an endpoint was refused: ${answer.status} ${answer.text}`);
    endpointIds.push(String(answer.body["id"]));
  }
  return { id: String(made.body["id"]), endpointIds };
}
