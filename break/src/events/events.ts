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

/** A short run has no time for three brokers. */
const secondsForThreeBrokers = 120;

/** After the last trouble, everything must have arrived. */
const settleMsMax = 90_000;

/** Minutes become seconds; still longer than a column is away. */
const webhooks = {
  EVENT_RETRY_SECONDS: "0.3,0.5,1,1,2,2,2,2,2,2,2,2",
  RETRY_SCHEDULE_SECONDS: "0.3,0.5,1,1,1,1,1",
};

export const events: Program = {
  attacks:
    "P3, no event lost: Kafka (from two minutes on one of three brokers), consumers and relays killed and frozen, a column away, poisoned, forged, replayed",
  async run({ seed, seconds, signal, report, say }) {
    const random = createRandom(seed);
    await using receiver = await receiveEvents(random.fork());
    await using running = await startTestSystem("kafka", { webhooks }, { kafkaNodes: seconds < secondsForThreeBrokers ? 1 : 3 });
    const { system, kafkaNodes } = running;
    const addresses = kafkaNodes.map(({ brokers }) => brokers);
    await using consumer = secondReplica(system, "webhooks", await freePort());
    await using relay = secondReplica(system, "payments", await freePort());
    await Promise.all([consumer.replica.start(), relay.replica.start()]);
    await using payments = connect(system.databaseUrls["payments"]);
    await using owner = connect(system.ownerDatabaseUrls["webhooks"]);
    const call = apiCaller(system.gatewayUrl, system.business.api_key);
    await call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
    await using intruder = startIntruder(addresses, random.fork(), report);

    const over = new AbortController();
    const emitting = emitEvents({
      payments: payments.pool,
      businessId: system.business.id,
      random: random.fork(),
      report,
      signal: over.signal,
    });
    await makeFaults({
      brokers: kafkaNodes,
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
    report.check("each event had a copy on each broker", (await intruder.copies()) === kafkaNodes.length, () => addresses.join());
    await checkEvents({ committed, forgedIds, bodies: receiver.bodies, webhooks: owner.pool, operator, report });
  },
};

async function settle(committed: Committed, bodies: ReadonlyMap<string, unknown>): Promise<void> {
  const endsAtMs = performance.now() + settleMsMax;
  while (performance.now() < endsAtMs && [...committed.good.keys()].some((id) => !bodies.has(id))) await sleep(250);
  // What was poisoned last needs its first attempt, and duplicates their time to do harm.
  await sleep(2_000);
}

/** A second process of a service on the same database, not started yet. */
function secondReplica(system: System, name: ServiceName, port: number): AsyncDisposable & { replica: ServiceProcess } {
  const env = { ...system.envOf(name), RPC_PORT: String(port) };
  const replica = serviceProcess({ name, env, port, logDir: system.logDir, supervised: false, onCrash: () => {} });
  return { replica, [Symbol.asyncDispose]: () => replica.kill() };
}

function connect(url: string | undefined) {
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on("error", () => {});
  return { pool, [Symbol.asyncDispose]: () => pool.end() };
}
