import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureDatabases } from "@amana/dev-env/databases";
import { apiCaller } from "@amana/dev-env/demo/api";
import { freePort } from "@amana/dev-env/free-port";
import { startPostgres } from "@amana/dev-env/postgres";
import { createServiceProcess, migrateService, type ServiceProcess } from "@amana/dev-env/service-process";
import type { ServiceName } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { copyPostgresData, startTestSystem } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { Pool } from "pg";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { isSubscribedTo } from "./check-deliveries.ts";
import { checkEvents } from "./check-events.ts";
import { Clock } from "./clock.ts";
import { type CommittedEvents, emitEvents } from "./emit-events.ts";
import { type Endpoint, endpointsCount, registerEndpoints } from "./endpoints.ts";
import { injectFaults } from "./faults.ts";
import { InterruptedDeliveries } from "./interrupted-deliveries.ts";
import { startIntruder } from "./intruder.ts";
import { startReceivers } from "./start-receivers.ts";

/** Minimum duration of a run with three brokers, because three brokers start slowly. */
const secondsForThreeBrokers = 120;

/** After the last fault, the run ends when no delivery has changed for this time. */
const idleMsMax = 90_000;

/**
 * Retry intervals of seconds in place of minutes. Their sum is still longer than the time for which
 * a column is renamed or an endpoint fails.
 */
const webhookSettings = {
  EVENT_RETRY_SECONDS: "0.3,0.5,1,1,2,2,2,2,2,2,2,2",
  RETRY_SCHEDULE_SECONDS: ["0.3,0.5,1,1", ...Array.from({ length: 60 }, () => "2")].join(),
};

export const eventsProgram: Program = {
  summary:
    "P3: kill and freeze Kafka, PostgreSQL, consumers and relays, step clocks, rename a column, forge and replay messages; no event is lost or invented",
  async run({ seed, seconds, eventsMax = Number.POSITIVE_INFINITY, signal, report, log }) {
    const random = createRandom(seed);
    await using stack = new AsyncDisposableStack();
    const dir = await mkdtemp(join(tmpdir(), "amana-break-events-"));
    stack.defer(() => rm(dir, { recursive: true, force: true }));
    await copyPostgresData(dir);
    const postgres = stack.use(await startDurable(join(dir, "postgres")));
    const webhooksPostgres = stack.use(await startDurable(join(dir, "postgres-of-webhooks")));
    const { urls, ownerUrls } = await ensureDatabases(webhooksPostgres.superuserUrl, ["webhooks"], randomUUID());
    await migrateService("webhooks", { DATABASE_URL: ownerUrls["webhooks"] as string });
    const { receivers, countRejectedSignatures } = stack.use(await startReceivers(random.fork(), endpointsCount));
    const clocks = ["consumer", "another-consumer", "extra-consumer", "relay", "another-relay"].map(
      (name) => new Clock(dir, name),
    );
    const [consumerClock, secondConsumerClock, extraConsumerClock, relayClock, secondRelayClock] = clocks as [
      Clock,
      Clock,
      Clock,
      Clock,
      Clock,
    ];
    const { system, kafkaNodes } = stack.use(
      await startTestSystem(
        "kafka",
        {
          webhooks: { ...webhookSettings, ...consumerClock.env, DATABASE_URL: urls["webhooks"] as string },
          payments: relayClock.env,
        },
        { kafkaNodes: seconds < secondsForThreeBrokers ? 1 : 3, databaseUrl: postgres.superuserUrl },
      ),
    );
    const addresses = kafkaNodes.map(({ brokers }) => brokers);
    const consumer = stack.use(await createReplica(system, "webhooks", secondConsumerClock)).replica;
    const extraConsumer = stack.use(await createReplica(system, "webhooks", extraConsumerClock)).replica;
    const relay = stack.use(await createReplica(system, "payments", secondRelayClock)).replica;
    await Promise.all([consumer.start(), relay.start()]);
    const { pool: payments } = stack.use(connect(system.databaseUrls["payments"]));
    const { pool: owner } = stack.use(connect(ownerUrls["webhooks"]));
    const endpoints = await registerEndpoints(system, receivers);
    const intruder = stack.use(startIntruder(addresses, random.fork(), report));
    const interrupted = new InterruptedDeliveries(owner);

    const emittingEnds = new AbortController();
    const eventsCommitted = new AbortController();
    const emitting = emitEvents({
      payments,
      businessIds: [...new Set(endpoints.map(({ businessId }) => businessId))],
      eventsMax,
      // In a short run, restarts use most of the processor time, so the pauses are longer.
      pauseFactor: seconds < secondsForThreeBrokers ? 4 : 1,
      random: random.fork(),
      report,
      signal: emittingEnds.signal,
    }).finally(() => eventsCommitted.abort());
    await injectFaults(
      {
        ...{ brokers: kafkaNodes, postgres, webhooksPostgres, extraConsumer, clocks, receivers, webhooks: owner, interrupted },
        consumers: [system.services.webhooks, consumer],
        relays: [system.services.payments, relay],
        sendAsIntruder: () => intruder.send(),
      },
      { random: random.fork(), report, signal: AbortSignal.any([signal, eventsCommitted.signal]) },
    );
    emittingEnds.abort();
    const committed = await emitting;
    log(`${committed.valid.size} events committed; waiting for the remaining deliveries`);
    await waitForDeliveries(committed, endpoints, owner);
    await system.waitUntilReady();
    report.count("webhooks rejected because of their signature or timestamp", countRejectedSignatures());
    const operator = apiCaller(system.gatewayUrl, system.adminKey);
    const { forgedIds } = intruder;
    report.check("each partition has a replica on each broker", (await intruder.countReplicasMin()) === kafkaNodes.length, () =>
      addresses.join(),
    );
    await checkEvents({ committed, forgedIds, endpoints, interrupted, webhooks: owner, operator, report });
  },
};

/** Starts PostgreSQL with fsync, because committed rows must survive an immediate stop. */
async function startDurable(dataDir: string) {
  const postgres = await startPostgres({ dataDir, durable: true, log: () => {} });
  return { ...postgres, [Symbol.asyncDispose]: () => postgres.stop() };
}

/**
 * Waits until the endpoints have received all deliveries and webhooks has recorded them. Stops
 * waiting if the numbers of missing and unrecorded deliveries do not change for `idleMsMax`.
 */
async function waitForDeliveries({ valid }: CommittedEvents, endpoints: readonly Endpoint[], webhooks: Pool): Promise<void> {
  let previous = "";
  for (let idleSinceMs = performance.now(); performance.now() - idleSinceMs < idleMsMax; await sleep(500)) {
    const missing = endpoints.reduce((sum, endpoint) => {
      const { arrivals } = endpoint.receiver;
      return sum + [...valid].filter(([id, event]) => isSubscribedTo(endpoint, event) && !arrivals.has(id)).length;
    }, 0);
    const { rows } = await webhooks.query<{ count: number }>("select count(*)::int from delivery where status = 'PENDING'");
    const pending = rows[0]?.count ?? 0;
    if (missing + pending === 0) break;
    if (`${missing} ${pending}` !== previous) idleSinceMs = performance.now();
    previous = `${missing} ${pending}`;
  }
  // Gives webhooks time to process the newest poisoned message, and endpoints time to receive a
  // duplicate delivery.
  await sleep(2_000);
}

/** Returns another replica of a service, with its own clock. The caller must start the replica. */
async function createReplica(
  system: System,
  name: ServiceName,
  clock: Clock,
): Promise<AsyncDisposable & { replica: ServiceProcess }> {
  const port = await freePort();
  const env = { ...system.envOf(name), RPC_PORT: String(port), ...clock.env };
  const replica = createServiceProcess({ name, env, port, logDir: system.logDir, supervised: false, onCrash: () => {} });
  return { replica, [Symbol.asyncDispose]: () => replica.kill() };
}

function connect(url: string | undefined) {
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on("error", () => {});
  // PostgreSQL may stop while a connection is in use. The running query then throws.
  pool.on("connect", (client) => client.on("error", () => {}));
  return { pool, [Symbol.asyncDispose]: () => pool.end() };
}
