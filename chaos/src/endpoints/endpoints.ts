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
import { registerForbidden, turnedHosts } from "./addresses.ts";
import { startEvilReceivers, startForbidden } from "./evil-receivers.ts";
import { startHealthyReceiver } from "./healthy-receiver.ts";
import { type ProcessUse, useOf } from "./process-use.ts";

const quietSeconds = 3;
/** However little time there is, so that evil ones have shown what they are. */
const loudSecondsMin = 5;
/** For each business; every event goes to its healthy endpoint and to some evil ones. */
const eventsPerSecond = 8;
/** Evil endpoints are shared out among so many; one more business has none. */
const evilBusinesses = 4;
const pausesSeconds = [1, 2, 4, 4, 4, 4, 4];
const jitter = 0.2;
/** After the last event, everything must have arrived at the healthy; and after the evil are gone, everything be over. */
const settleMsMax = 180_000;
const handlesMoreMax = 40;
const megabytesMoreMax = 300;

interface Business {
  readonly id: string;
  readonly call: ApiCaller;
}

interface Emitted {
  readonly id: string;
  readonly businessId: string;
  readonly committedMs: number;
}

type Healthy = Awaited<ReturnType<typeof startHealthyReceiver>>;

export const endpoints: Program = {
  attacks:
    "P3 and P7: endpoints that misbehave in forty ways beside healthy ones, of the same and of other businesses; addresses that are forbidden",
  async run({ signal, report, say }) {
    await using forbidden = await startForbidden();
    await using healthy = await startHealthyReceiver();
    await using evil = await startEvilReceivers(`http://127.0.0.1:${forbidden.port}/`);
    const proxy = `http://127.0.0.1:${forbidden.port}`;
    await using test = await startTestSystem("direct", {
      webhooks: {
        RETRY_SCHEDULE_SECONDS: pausesSeconds.join(),
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
    for (let i = 0; i <= evilBusinesses; i++) businesses.push(await aBusinessWith(system, healthy));
    const emit = (until: AbortSignal) => emitEvents(payments.pool, businesses, report, until);

    await emit(AbortSignal.timeout(1_000));
    const quiet = await emit(AbortSignal.timeout(quietSeconds * 1_000));
    await arrived(quiet, healthy, report);
    const before = await useOf(pid);

    await registerForbidden((businesses[0] as Business).call, report);
    const ids = await registerEvil(businesses, evil.urls, webhooks.pool, forbidden.port);
    report.count("evil endpoints", ids.size);
    const loud = [...(await emit(AbortSignal.timeout(loudSecondsMin * 1_000))), ...(await emit(signal))];
    const during = await useOf(pid);
    say(`${quiet.length + loud.length} events committed; waiting for what is still under way`);
    await arrived(loud, healthy, report);
    const [p95Quiet, p95Loud] = [p95Of(quiet, healthy), p95Of(loud, healthy)];
    say(`from commit to arrival at healthy endpoints, p95: ${p95Quiet} ms without evil ones, ${p95Loud} ms with them`);
    const { id: lonely } = businesses.at(-1) as Business;
    const ofOthers = (events: readonly Emitted[]) =>
      p95Of(
        events.filter(({ businessId }) => businessId === lonely),
        healthy,
      );
    say(`of the business that has no evil ones: ${ofOthers(quiet)} and ${ofOthers(loud)} ms`);

    await checkSchedule(webhooks.pool, report);
    await checkTurned(webhooks.pool, ids, report);
    await deleteEvil(ids);
    const after = await settled(pid, before, webhooks.pool);
    say(`webhooks: ${inWords(before)} before, ${inWords(during)} during, ${inWords(after)} afterwards`);
    report.check(
      "memory, sockets and handles come back",
      isNear(after, before),
      () => `${inWords(before)}, then ${inWords(after)}`,
    );
    report.check("nothing forbidden is connected to", forbidden.connections() === 0, () => `${forbidden.connections()} times`);
    report.check("webhooks did not crash", system.services.webhooks.pid() === pid, () => "another process");
  },
};

async function aBusinessWith(system: System, healthy: Healthy): Promise<Business> {
  const operator = apiCaller(system.gatewayUrl, system.adminKey);
  const { body } = await operator("POST", "/api/v1/businesses", { name: "Épicerie" });
  const id = String(body["id"]);
  const call = apiCaller(system.gatewayUrl, String(body["api_key"]));
  await call("POST", "/api/v1/webhook-endpoints", { url: healthy.urlOf(id) });
  return { id, call };
}

/** Answers the ids of the endpoints, by what they are. */
async function registerEvil(
  businesses: readonly Business[],
  evil: readonly { name: string; url: string }[],
  webhooks: Pool,
  forbiddenPort: number,
): Promise<Map<string, { id: string; business: Business }>> {
  const ids = new Map<string, { id: string; business: Business }>();
  const [{ url: anyUrl } = { url: "" }] = evil;
  const all = [...evil, ...turnedHosts.map((host) => ({ name: turned(host), url: anyUrl }))];
  for (const [i, { name, url }] of all.entries()) {
    const business = businesses[i % evilBusinesses] as Business;
    const answer = await business.call("POST", "/api/v1/webhook-endpoints", { url });
    if (answer.status !== 201) throw new Error(`${name}: ${answer.status} ${answer.text}`);
    ids.set(name, { id: String(answer.body["id"]), business });
  }
  for (const host of turnedHosts) {
    const url = `http://${host}:${forbiddenPort}/`;
    await webhooks.query("update webhook_endpoint set url = $2 where id = $1", [ids.get(turned(host))?.id, url]);
  }
  return ids;
}

const turned = (host: string) => `turned into ${host}`;

async function deleteEvil(ids: ReadonlyMap<string, { id: string; business: Business }>) {
  for (const { id, business } of ids.values()) await business.call("DELETE", `/api/v1/webhook-endpoints/${id}`);
}

/** Commits events of each business until the signal, as payments does. */
async function emitEvents(
  payments: Pool,
  businesses: readonly Business[],
  report: Report,
  signal: AbortSignal,
): Promise<Emitted[]> {
  const emitted: Emitted[] = [];
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
      // The relay hears of commits of its own process; this is another.
      await payments.query("notify outbox");
    }
    await sleep(1_000 / eventsPerSecond, signal);
  }
  report.count("events committed", emitted.length);
  return emitted;
}

/** Every event arrives at the healthy endpoint of its business. */
async function arrived(events: readonly Emitted[], healthy: Healthy, report: Report): Promise<void> {
  const missing = () => events.filter(({ id, businessId }) => healthy.arrivedMs(businessId, id) === undefined);
  const endsAtMs = performance.now() + settleMsMax;
  while (missing().length > 0 && performance.now() < endsAtMs) await sleep(100);
  report.count("checked: events at healthy endpoints", events.length);
  for (const { id, businessId } of missing()) report.violation(`event ${id} did not reach the healthy endpoint of ${businessId}`);
}

function p95Of(events: readonly Emitted[], healthy: Healthy): number {
  const tookMs = events.map(({ id, businessId, committedMs }) => (healthy.arrivedMs(businessId, id) ?? Number.NaN) - committedMs);
  return Math.round(tookMs.sort((a, b) => a - b)[Math.floor(tookMs.length * 0.95)] ?? Number.NaN);
}

/** No attempt comes sooner after the one before it than the schedule allows, and none beyond the eighth. */
async function checkSchedule(webhooks: Pool, report: Report): Promise<void> {
  const { rows } = await webhooks.query<{ url: string; number: number; pause_ms: number | null }>(
    `select url, number::int, pause_ms::float8 from (
       select e.url, row_number() over each as number,
         extract(epoch from lead(a.at) over each - a.at) * 1000 - a.duration_ms as pause_ms
       from delivery_attempt a join delivery d on d.id = a.delivery_id join webhook_endpoint e on e.id = d.endpoint_id
       window each as (partition by a.delivery_id order by a.id)
     ) attempt`,
  );
  report.count("attempts", rows.length);
  for (const { url, number, pause_ms } of rows) {
    const leastMs = (pausesSeconds[number - 1] ?? Number.POSITIVE_INFINITY) * 1_000 * (1 - jitter);
    // The log rounds to milliseconds.
    report.check(
      "attempts keep to the schedule",
      pause_ms === null || pause_ms >= leastMs - 5,
      () => `${url}: ${number}, ${pause_ms} ms`,
    );
  }
}

async function checkTurned(webhooks: Pool, ids: ReadonlyMap<string, { id: string }>, report: Report): Promise<void> {
  for (const host of turnedHosts) {
    const { rows } = await webhooks.query<{ failure: string }>(
      `select distinct failure from delivery_attempt a join delivery d on d.id = a.delivery_id where d.endpoint_id = $1`,
      [ids.get(turned(host))?.id],
    );
    const failures = rows.map(({ failure }) => failure).join();
    report.check("where an address leads is judged again", failures === "ADDRESS_FORBIDDEN", () => `${host}: ${failures}`);
  }
}

/** What the process holds once nothing is under way, and what was kept alive has been let go. */
async function settled(pid: number, before: ProcessUse, webhooks: Pool): Promise<ProcessUse> {
  const endsAtMs = performance.now() + settleMsMax;
  for (;;) {
    const { rows } = await webhooks.query<{ pending: number }>(
      "select count(*)::int as pending from delivery where status = 'PENDING'",
    );
    const use = await useOf(pid);
    if ((rows[0]?.pending === 0 && isNear(use, before)) || performance.now() > endsAtMs) return use;
    await sleep(500);
  }
}

const isNear = (after: ProcessUse, before: ProcessUse) =>
  after.handles <= before.handles + handlesMoreMax && after.megabytes <= before.megabytes + megabytesMoreMax;

const inWords = ({ megabytes, handles, sockets }: ProcessUse) => `${megabytes} MB, ${handles} handles (${sockets} sockets)`;

function connect(url: string | undefined) {
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {});
  return { pool, [Symbol.asyncDispose]: () => pool.end() };
}
