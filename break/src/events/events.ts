import { apiCaller } from "@amana/dev-env/demo/api";
import { freePort } from "@amana/dev-env/free-port";
import { type ServiceProcess, serviceProcess } from "@amana/dev-env/service-process";
import type { ServiceName } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { startTestSystem } from "@amana/dev-env/test-system";
import { sleep } from "@amana/runtime";
import { Pool } from "pg";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { checkEvents } from "./check-events.ts";
import { type Committed, emitEvents } from "./emit-events.ts";
import { makeFaults } from "./faults.ts";
import { startIntruder } from "./intruder.ts";
import { receiveEvents } from "./receive-events.ts";

/** After the last trouble, everything must have arrived. */
const settleMsMax = 90_000;

/** Minutes become seconds; still longer than a column is away. */
const webhooks = {
  EVENT_RETRY_SECONDS: "0.3,0.5,1,1,2,2,2,2,2,2,2,2",
  RETRY_SCHEDULE_SECONDS: "0.3,0.5,1,1,1,1,1",
};

export const events: Program = {
  attacks: "P3, no event lost: Kafka, consumers and relays killed and frozen, a column away, poisoned, forged, replayed",
  async run({ seed, signal, report, say }) {
    const random = createRandom(seed);
    await using receiver = await receiveEvents(random.fork());
    await using running = await startTestSystem("kafka", { webhooks });
    const { system, kafka } = running;
    if (!kafka) throw new Error("this program needs a Kafka of its own");
    await using consumer = await secondReplica(system, "webhooks");
    await using relay = await secondReplica(system, "payments");
    await using payments = connect(system.databaseUrls["payments"]);
    await using owner = connect(system.ownerDatabaseUrls["webhooks"]);
    const call = apiCaller(system.gatewayUrl, system.business.api_key);
    await call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
    await using intruder = startIntruder(kafka.brokers, random.fork(), report);

    const over = new AbortController();
    const emitting = emitEvents({
      payments: payments.pool,
      businessId: system.business.id,
      random: random.fork(),
      report,
      signal: over.signal,
    });
    await makeFaults({
      kafka,
      consumers: [system.services.webhooks, consumer.replica],
      relays: [system.services.payments, relay.replica],
      webhooks: owner.pool,
      act: () => intruder.act(),
      random: random.fork(),
      report,
      signal,
    });
    over.abort();
    const committed = await emitting;
    say(`${committed.good.size} events committed; waiting for what is still under way`);
    await settle(committed, receiver.bodies);
    await system.ready();
    const operator = apiCaller(system.gatewayUrl, system.adminKey);
    const { forgedIds } = intruder;
    await checkEvents({ committed, forgedIds, bodies: receiver.bodies, webhooks: owner.pool, operator, report });
  },
};

async function settle(committed: Committed, bodies: ReadonlyMap<string, unknown>): Promise<void> {
  const endsAtMs = performance.now() + settleMsMax;
  while (performance.now() < endsAtMs && [...committed.good.keys()].some((id) => !bodies.has(id))) await sleep(250);
  // What was poisoned last needs its first attempt, and duplicates their time to do harm.
  await sleep(2_000);
}

/** A second process of a service on the same database. */
async function secondReplica(system: System, name: ServiceName): Promise<AsyncDisposable & { replica: ServiceProcess }> {
  const port = await freePort();
  const env = { ...system.envOf(name), RPC_PORT: String(port) };
  const replica = serviceProcess({ name, env, port, logDir: system.logDir, supervised: false, onCrash: () => {} });
  await replica.start();
  return { replica, [Symbol.asyncDispose]: () => replica.stop() };
}

function connect(url: string | undefined) {
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on("error", () => {});
  return { pool, [Symbol.asyncDispose]: () => pool.end() };
}
