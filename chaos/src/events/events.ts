import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureDatabases } from "@amana/dev-env/databases";
import { apiCaller } from "@amana/dev-env/demo/api";
import { freePort } from "@amana/dev-env/free-port";
import { startPostgres } from "@amana/dev-env/postgres";
import { migrateService, type ServiceProcess, serviceProcess } from "@amana/dev-env/service-process";
import type { ServiceName } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { copyPostgresData, startTestSystem } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { Pool } from "pg";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { isToldOf } from "./check-deliveries.ts";
import { checkEvents } from "./check-events.ts";
import { Clock } from "./clock.ts";
import { type Committed, emitEvents } from "./emit-events.ts";
import { type Endpoint, endpointsCount, registerEndpoints } from "./endpoints.ts";
import { makeFaults } from "./faults.ts";
import { Interrupted } from "./interrupted.ts";
import { startIntruder } from "./intruder.ts";
import { receiveEvents } from "./receive-events.ts";

/** A short run has no time for three brokers. */
const secondsForThreeBrokers = 120;

/** When nothing has arrived for so long after the last trouble, nothing more will. */
const stillMsMax = 90_000;

/** Minutes become seconds; still longer than a column is away, or an endpoint misbehaves. */
const webhooks = {
  EVENT_RETRY_SECONDS: "0.3,0.5,1,1,2,2,2,2,2,2,2,2",
  RETRY_SCHEDULE_SECONDS: ["0.3,0.5,1,1", ...Array.from({ length: 60 }, () => "2")].join(),
};

export const events: Program = {
  attacks:
    "P3, no event lost: Kafka (from two minutes on one of three brokers), PostgreSQL, consumers and relays killed and frozen, replicas that come and go, clocks stepped, endpoints that hang, a column away, poisoned, forged, replayed",
  async run({ seed, seconds, eventsMax = Number.POSITIVE_INFINITY, signal, report, say }) {
    const random = createRandom(seed);
    await using stack = new AsyncDisposableStack();
    const dir = await mkdtemp(join(tmpdir(), "amana-break-events-"));
    stack.defer(() => rm(dir, { recursive: true, force: true }));
    await copyPostgresData(dir);
    const postgres = stack.use(await startDurable(join(dir, "postgres")));
    const postgresOfWebhooks = stack.use(await startDurable(join(dir, "postgres-of-webhooks")));
    const { urls, ownerUrls } = await ensureDatabases(postgresOfWebhooks.superuserUrl, ["webhooks"], randomUUID());
    await migrateService("webhooks", { DATABASE_URL: ownerUrls["webhooks"] as string });
    const { receivers, refusedForTheirTime } = stack.use(await receiveEvents(random.fork(), endpointsCount));
    const clocks = ["consumer", "another-consumer", "guest", "relay", "another-relay"].map((name) => new Clock(dir, name));
    const [ofConsumer, ofAnotherConsumer, ofGuest, ofRelay, ofAnotherRelay] = clocks as [Clock, Clock, Clock, Clock, Clock];
    const { system, kafkaNodes } = stack.use(
      await startTestSystem(
        "kafka",
        { webhooks: { ...webhooks, ...ofConsumer.env, DATABASE_URL: urls["webhooks"] as string }, payments: ofRelay.env },
        { kafkaNodes: seconds < secondsForThreeBrokers ? 1 : 3, databaseUrl: postgres.superuserUrl },
      ),
    );
    const addresses = kafkaNodes.map(({ brokers }) => brokers);
    const consumer = stack.use(await anotherReplica(system, "webhooks", ofAnotherConsumer)).replica;
    const guest = stack.use(await anotherReplica(system, "webhooks", ofGuest)).replica;
    const relay = stack.use(await anotherReplica(system, "payments", ofAnotherRelay)).replica;
    await Promise.all([consumer.start(), relay.start()]);
    const { pool: payments } = stack.use(connect(system.databaseUrls["payments"]));
    const { pool: owner } = stack.use(connect(ownerUrls["webhooks"]));
    const endpoints = await registerEndpoints(system, receivers);
    const intruder = stack.use(startIntruder(addresses, random.fork(), report));
    const interrupted = new Interrupted(owner);

    const over = new AbortController();
    const enough = new AbortController();
    const emitting = emitEvents({
      payments,
      businessIds: [...new Set(endpoints.map(({ businessId }) => businessId))],
      eventsMax,
      // In a short attempt, restarting processes need most of the processor time.
      pauses: seconds < secondsForThreeBrokers ? 4 : 1,
      random: random.fork(),
      report,
      signal: over.signal,
    }).finally(() => enough.abort());
    await makeFaults(
      {
        ...{ brokers: kafkaNodes, postgres, postgresOfWebhooks, guest, clocks, receivers, webhooks: owner, interrupted },
        consumers: [system.services.webhooks, consumer],
        relays: [system.services.payments, relay],
        act: () => intruder.act(),
      },
      { random: random.fork(), report, signal: AbortSignal.any([signal, enough.signal]) },
    );
    over.abort();
    const committed = await emitting;
    say(`${committed.good.size} events committed; waiting for what is still under way`);
    await settle(committed, endpoints, owner);
    await system.ready();
    report.count("webhooks refused for their time of sending", refusedForTheirTime());
    const operator = apiCaller(system.gatewayUrl, system.adminKey);
    const { forgedIds } = intruder;
    report.check("each event had a copy on each broker", (await intruder.copies()) === kafkaNodes.length, () => addresses.join());
    await checkEvents({ committed, forgedIds, endpoints, interrupted, webhooks: owner, operator, report });
  },
};

/** Durable: what it committed must be there after it was stopped at once. */
async function startDurable(dataDir: string) {
  const postgres = await startPostgres({ dataDir, durable: true, log: () => {} });
  return { ...postgres, [Symbol.asyncDispose]: () => postgres.stop() };
}

/** Waits until everything has arrived and is recorded, or nothing more happens. */
async function settle({ good }: Committed, endpoints: readonly Endpoint[], webhooks: Pool): Promise<void> {
  let before = "";
  for (let stillSinceMs = performance.now(); performance.now() - stillSinceMs < stillMsMax; await sleep(500)) {
    const missing = endpoints.reduce((sum, endpoint) => {
      const { arrivals } = endpoint.receiver;
      return sum + [...good].filter(([id, event]) => isToldOf(endpoint, event) && !arrivals.has(id)).length;
    }, 0);
    const { rows } = await webhooks.query<{ count: number }>("select count(*)::int from delivery where status = 'PENDING'");
    const pending = rows[0]?.count ?? 0;
    if (missing + pending === 0) break;
    if (`${missing} ${pending}` !== before) stillSinceMs = performance.now();
    before = `${missing} ${pending}`;
  }
  // What was poisoned last needs its first attempt, and duplicates their time to do harm.
  await sleep(2_000);
}

/** One more process of a service on the same database, with a clock of its own, not started yet. */
async function anotherReplica(
  system: System,
  name: ServiceName,
  clock: Clock,
): Promise<AsyncDisposable & { replica: ServiceProcess }> {
  const port = await freePort();
  const env = { ...system.envOf(name), RPC_PORT: String(port), ...clock.env };
  const replica = serviceProcess({ name, env, port, logDir: system.logDir, supervised: false, onCrash: () => {} });
  return { replica, [Symbol.asyncDispose]: () => replica.kill() };
}

function connect(url: string | undefined) {
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on("error", () => {});
  // PostgreSQL may go away while one is in use; whoever uses it is told.
  pool.on("connect", (client) => client.on("error", () => {}));
  return { pool, [Symbol.asyncDispose]: () => pool.end() };
}
