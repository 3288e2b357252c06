import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import { startTestSystem } from "@amana/e2e/test-system";
import { sleep, uuidv7 } from "@amana/runtime";
import { create, toBinary } from "@bufbuild/protobuf";
import { Pool } from "pg";
import type { Program } from "../program.ts";
import type { Report } from "../report.ts";
import { changedHosts, checkForbiddenHosts } from "./addresses.ts";
import { startFaultyReceivers, startForbiddenServer } from "./faulty-receivers.ts";
import { startHealthyReceiver } from "./healthy-receiver.ts";
import { type ProcessUse, readProcessUse } from "./process-use.ts";

const baselineSeconds = 3;
/** Minimum duration of the attack, so that every faulty endpoint receives delivery attempts. */
const attackSecondsMin = 5;
/** Events per second of each business. Each event is sent to all endpoints of its business. */
const eventsPerSecond = 8;
/** Number of businesses with faulty endpoints. One more business has only a healthy endpoint. */
const faultyBusinessCount = 4;
const retryPausesSeconds = [1, 2, 4, 4, 4, 4, 4];
const jitter = 0.2;
/** Maximum wait for the last deliveries, and for the release of resources after the attack. */
const waitMsMax = 180_000;
const additionalHandlesMax = 40;
const additionalMegabytesMax = 300;

interface Business {
  readonly id: string;
  readonly call: ApiCaller;
}

interface EmittedEvent {
  readonly id: string;
  readonly businessId: string;
  readonly committedMs: number;
}

type HealthyReceiver = Awaited<ReturnType<typeof startHealthyReceiver>>;

export const endpointsProgram: Program = {
  summary: "P3, P7: register endpoints with forty kinds of faults and forbidden addresses; healthy endpoints receive every event",
  async run({ signal, report, log }) {
    await using forbidden = await startForbiddenServer();
    await using healthy = await startHealthyReceiver();
    await using faulty = await startFaultyReceivers(`http://127.0.0.1:${forbidden.port}/`);
    const proxy = `http://127.0.0.1:${forbidden.port}`;
    await using test = await startTestSystem("direct", {
      webhooks: {
        RETRY_SCHEDULE_SECONDS: retryPausesSeconds.join(),
        ...Object.fromEntries(
          ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"].map((name) => [name, proxy]),
        ),
        NODE_USE_ENV_PROXY: "1",
      },
    });
    const { system } = test;
    const pid = system.services.webhooks.pid() ?? 0;
    await using payments = connect(system.databaseUrls["payments"]);
    await using webhooks = connect(system.ownerDatabaseUrls["webhooks"]);
    const businesses: Business[] = [];
    for (let i = 0; i <= faultyBusinessCount; i++) businesses.push(await createBusiness(system, healthy));
    const emit = (until: AbortSignal) => emitEvents(payments.pool, businesses, report, until);

    await emit(AbortSignal.timeout(1_000));
    const baselineEvents = await emit(AbortSignal.timeout(baselineSeconds * 1_000));
    await checkArrivals(baselineEvents, healthy, report);
    const useBefore = await readProcessUse(pid);

    await checkForbiddenHosts((businesses[0] as Business).call, report);
    const faultyEndpoints = await registerFaultyEndpoints(businesses, faulty.urls, webhooks.pool, forbidden.port);
    report.count("faulty endpoints", faultyEndpoints.size);
    const attackEvents = [...(await emit(AbortSignal.timeout(attackSecondsMin * 1_000))), ...(await emit(signal))];
    const useDuring = await readProcessUse(pid);
    log(`${baselineEvents.length + attackEvents.length} events committed; waiting for the remaining deliveries`);
    await checkArrivals(attackEvents, healthy, report);
    const [p95Baseline, p95Attack] = [p95Of(baselineEvents, healthy), p95Of(attackEvents, healthy)];
    log(
      `from commit to arrival at healthy endpoints, p95: ${p95Baseline} ms without faulty endpoints, ${p95Attack} ms with them`,
    );
    const { id: unaffectedId } = businesses.at(-1) as Business;
    const p95Unaffected = (events: readonly EmittedEvent[]) =>
      p95Of(
        events.filter(({ businessId }) => businessId === unaffectedId),
        healthy,
      );
    log(
      `p95 of the business without faulty endpoints: ${p95Unaffected(baselineEvents)} ms before and ${p95Unaffected(attackEvents)} ms during the attack`,
    );

    await checkSchedule(webhooks.pool, report);
    await checkChangedHosts(webhooks.pool, faultyEndpoints, report);
    await deleteFaultyEndpoints(faultyEndpoints);
    const useAfter = await waitForRelease(pid, useBefore, webhooks.pool);
    log(`webhooks: ${formatUse(useBefore)} before, ${formatUse(useDuring)} during, ${formatUse(useAfter)} after the attack`);
    report.check(
      "memory, sockets and handles are released",
      isNear(useAfter, useBefore),
      () => `${formatUse(useBefore)}, then ${formatUse(useAfter)}`,
    );
    report.check(
      "no connection to a forbidden address",
      forbidden.countConnections() === 0,
      () => `${forbidden.countConnections()} times`,
    );
    report.check("webhooks did not crash", system.services.webhooks.pid() === pid, () => "the process was replaced");
  },
};

async function createBusiness(system: System, healthy: HealthyReceiver): Promise<Business> {
  const operator = apiCaller(system.gatewayUrl, system.adminKey);
  const { body } = await operator("POST", "/api/v1/businesses", { name: "Épicerie" });
  const id = String(body["id"]);
  const call = apiCaller(system.gatewayUrl, String(body["api_key"]));
  await call("POST", "/api/v1/webhook-endpoints", { url: healthy.urlOf(id) });
  return { id, call };
}

/**
 * Registers the faulty endpoints and the endpoints with changed hosts. Returns the id and the
 * business of each endpoint by the endpoint's name.
 */
async function registerFaultyEndpoints(
  businesses: readonly Business[],
  faulty: readonly { name: string; url: string }[],
  webhooks: Pool,
  forbiddenPort: number,
): Promise<Map<string, { id: string; business: Business }>> {
  const ids = new Map<string, { id: string; business: Business }>();
  const [{ url: anyUrl } = { url: "" }] = faulty;
  const endpointsToRegister = [...faulty, ...changedHosts.map((host) => ({ name: nameOfChanged(host), url: anyUrl }))];
  for (const [i, { name, url }] of endpointsToRegister.entries()) {
    const business = businesses[i % faultyBusinessCount] as Business;
    const response = await business.call("POST", "/api/v1/webhook-endpoints", { url });
    if (response.status !== 201)
      throw new Error(`registering the endpoint "${name}" returned status ${response.status}: ${response.text}`);
    ids.set(name, { id: String(response.body["id"]), business });
  }
  for (const host of changedHosts) {
    const url = `http://${host}:${forbiddenPort}/`;
    await webhooks.query("update webhook_endpoint set url = $2 where id = $1", [ids.get(nameOfChanged(host))?.id, url]);
  }
  return ids;
}

const nameOfChanged = (host: string) => `changed to ${host}`;

async function deleteFaultyEndpoints(ids: ReadonlyMap<string, { id: string; business: Business }>) {
  for (const { id, business } of ids.values()) await business.call("DELETE", `/api/v1/webhook-endpoints/${id}`);
}

/** Commits events of each business to the outbox of payments until `signal` is aborted. */
async function emitEvents(
  payments: Pool,
  businesses: readonly Business[],
  report: Report,
  signal: AbortSignal,
): Promise<EmittedEvent[]> {
  const emitted: EmittedEvent[] = [];
  while (!signal.aborted) {
    for (const { id: businessId } of businesses) {
      const id = uuidv7();
      const event = create(PaymentEventSchema, {
        type: PaymentEventType.PAYMENT_COMPLETED,
        payment: { id: uuidv7(), businessId, status: PaymentStatus.PAID, amountMinor: 1n, currency: "DZD" },
      });
      const headers = { ce_specversion: "1.0", ce_id: id, ce_type: "payments.v1.PaymentCompleted", ce_source: "payments" };
      await payments.query("insert into outbox (topic, key, payload, headers) values ('payments.v1', $1, $2, $3)", [
        id,
        Buffer.from(toBinary(PaymentEventSchema, event)),
        JSON.stringify({ ...headers, ce_time: new Date().toISOString(), "content-type": "application/protobuf" }),
      ]);
      emitted.push({ id, businessId, committedMs: performance.now() });
      // Notifies the relay, because only commits of the payments process notify it automatically.
      await payments.query("notify outbox");
    }
    await sleep(1_000 / eventsPerSecond, signal);
  }
  report.count("events committed", emitted.length);
  return emitted;
}

/** Checks that the healthy endpoint of the business receives every event. */
async function checkArrivals(events: readonly EmittedEvent[], healthy: HealthyReceiver, report: Report): Promise<void> {
  const missing = () => events.filter(({ id, businessId }) => healthy.receivedAtMs(businessId, id) === undefined);
  const endsAtMs = performance.now() + waitMsMax;
  while (missing().length > 0 && performance.now() < endsAtMs) await sleep(100);
  report.count("checked: events at healthy endpoints", events.length);
  for (const { id, businessId } of missing()) report.violation(`event ${id} did not reach the healthy endpoint of ${businessId}`);
}

function p95Of(events: readonly EmittedEvent[], healthy: HealthyReceiver): number {
  const durationsMs = events.map(
    ({ id, businessId, committedMs }) => (healthy.receivedAtMs(businessId, id) ?? Number.NaN) - committedMs,
  );
  return Math.round(durationsMs.sort((a, b) => a - b)[Math.floor(durationsMs.length * 0.95)] ?? Number.NaN);
}

/** Checks the pauses between attempts, and that a delivery has at most eight attempts. */
async function checkSchedule(webhooks: Pool, report: Report): Promise<void> {
  const { rows } = await webhooks.query<{ url: string; number: number; pause_ms: number | null }>(
    `select url, number::int, pause_ms::float8 from (
       select e.url, row_number() over attempts_of_delivery as number,
         extract(epoch from lead(a.at) over attempts_of_delivery - a.at) * 1000 - a.duration_ms as pause_ms
       from delivery_attempt a join delivery d on d.id = a.delivery_id join webhook_endpoint e on e.id = d.endpoint_id
       window attempts_of_delivery as (partition by a.delivery_id order by a.id)
     ) attempt`,
  );
  report.count("attempts", rows.length);
  for (const { url, number, pause_ms } of rows) {
    const pauseMsMin = (retryPausesSeconds[number - 1] ?? Number.POSITIVE_INFINITY) * 1_000 * (1 - jitter);
    // The stored times of attempts are rounded to milliseconds.
    report.check(
      "attempts follow the retry schedule",
      pause_ms === null || pause_ms >= pauseMsMin - 5,
      () => `${url}: ${number}, ${pause_ms} ms`,
    );
  }
}

async function checkChangedHosts(webhooks: Pool, ids: ReadonlyMap<string, { id: string }>, report: Report): Promise<void> {
  for (const host of changedHosts) {
    const { rows } = await webhooks.query<{ failure: string }>(
      `select distinct failure from delivery_attempt a join delivery d on d.id = a.delivery_id where d.endpoint_id = $1`,
      [ids.get(nameOfChanged(host))?.id],
    );
    const failures = rows.map(({ failure }) => failure).join();
    report.check("the address is checked again for each attempt", failures === "ADDRESS_FORBIDDEN", () => `${host}: ${failures}`);
  }
}

/** Waits until no delivery is pending and all resources are released. Returns the final use. */
async function waitForRelease(pid: number, before: ProcessUse, webhooks: Pool): Promise<ProcessUse> {
  const endsAtMs = performance.now() + waitMsMax;
  for (;;) {
    const { rows } = await webhooks.query<{ pending: number }>(
      "select count(*)::int as pending from delivery where status = 'PENDING'",
    );
    const use = await readProcessUse(pid);
    if ((rows[0]?.pending === 0 && isNear(use, before)) || performance.now() > endsAtMs) return use;
    await sleep(500);
  }
}

const isNear = (after: ProcessUse, before: ProcessUse) =>
  after.handles <= before.handles + additionalHandlesMax && after.megabytes <= before.megabytes + additionalMegabytesMax;

const formatUse = ({ megabytes, handles, sockets }: ProcessUse) => `${megabytes} MB, ${handles} handles (${sockets} sockets)`;

function connect(url: string | undefined) {
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {});
  return { pool, [Symbol.asyncDispose]: () => pool.end() };
}
