import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { median } from "@amana/bench/table";
import type { System } from "@amana/dev-env/system";
import { aBusiness, anOrder, aPaidPayment, aPerson, callSandbox, type TestBusiness, validCard } from "@amana/e2e/test-system";
import { Client } from "pg";
import { type LoadRequest, sendLoad } from "../load/send-load.ts";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

const samplesPerNoise = 2;
/**
 * Maximum duration of a flood. Normally the flood ends much earlier, when the quiet business has
 * finished its work.
 */
const noiseSecondsMax = 900;
/** Maximum wait for a webhook. Without fair shares, a webhook would wait hours for the backlog. */
const webhookMsMax = 120_000;
const hangingEndpointCount = 18;
const dueDeliveryCount = 20_000;

/** Durations in milliseconds by kind of work. */
type Durations = Map<string, number[]>;

/**
 * Payments that the quiet business needs. They are created before the noise, because the noise
 * slows the creation of payments down.
 */
interface PreparedPayments {
  readonly paid: string;
  readonly pending: { readonly id: string; readonly orderId: string };
}

/**
 * Makes noise as one business, while another business reads, creates, refunds and waits for
 * webhooks. Checks that every request of this quiet business succeeds. Prints the durations of
 * these requests, but does not check them.
 */
export async function makeNoise(
  system: System,
  { random, report, signal, log }: { random: Random; report: Report; signal: AbortSignal; log: (line: string) => void },
): Promise<void> {
  const [quiet, noisy] = [await aBusiness(system, "Quiet"), await aBusiness(system, "Noisy")];
  await using hangingReceivers = await createHangingEndpoints(system, noisy);
  const noises = Object.entries(createNoises(system, noisy, hangingReceivers, report));
  const [durationsBefore, durationsDuring] = [new Map<string, Durations>(), new Map<string, Durations>()];
  const durationsOf = (all: Map<string, Durations>, name: string) =>
    all.get(name) ?? all.set(name, new Map()).get(name) ?? new Map();
  await measure(system, quiet, await prepare(system, quiet, 1), new Map(), report);

  const runRound = async ([name, startNoise]: (typeof noises)[number]) => {
    const prepared = await prepare(system, quiet, 2 * samplesPerNoise);
    await measure(system, quiet, prepared.splice(0, samplesPerNoise), durationsOf(durationsBefore, name), report);
    report.count(`noise: ${name}`);
    const noiseEnds = new AbortController();
    let noise: Promise<unknown> = Promise.resolve();
    await new Promise<void>((onStarted) => {
      noise = startNoise({ signal: noiseEnds.signal, onStarted });
    });
    await measure(system, quiet, prepared, durationsOf(durationsDuring, name), report);
    noiseEnds.abort();
    // Removes the fault, so that requests no longer wait for the slow processor.
    await callSandbox(system, "DELETE", "/sandbox/faults");
    await noise;
    await hangingReceivers.removeBacklog();
  };
  do {
    const order = noises.map((entry) => ({ entry, position: random.next() })).sort((a, b) => a.position - b.position);
    for (const { entry } of order) await runRound(entry);
  } while (!signal.aborted);

  for (const [name, measured] of durationsDuring) {
    for (const [work, times] of measured) {
      const medians = [durationsOf(durationsBefore, name).get(work) ?? [], times].map(
        (durations) => `${Math.round(median(durations))} ms`,
      );
      log(`${name}: ${work}: ${medians.join(" before and ")} during the noise (medians of ${times.length})`);
    }
  }
  for (const { receiver } of [quiet, noisy]) await receiver[Symbol.asyncDispose]();
}

/** A signal that ends a noise, and a callback that the noise calls after its first effect. */
interface NoiseOptions {
  readonly signal: AbortSignal;
  readonly onStarted: () => void;
}

/** Returns the kinds of noise that the noisy business makes. */
function createNoises(
  system: System,
  noisy: TestBusiness,
  hangingReceivers: { addBacklog(options: NoiseOptions, report: Report): Promise<void> },
  report: Report,
): Record<string, (options: NoiseOptions) => Promise<unknown>> {
  const flood = async (options: NoiseOptions, ...requests: LoadRequest[]) => {
    const load = { url: system.gatewayUrl, requests, perSecond: 300, atOnceMax: 250, seconds: noiseSecondsMax };
    return await sendLoad(load, options);
  };
  const floodBeyondLimits = async (...load: Parameters<typeof flood>) => {
    const { statuses } = await flood(...load);
    const rejected = statuses["429"] ?? 0;
    report.check("noise beyond the limits is rejected with status 429", rejected > 0, () => JSON.stringify(statuses));
  };
  const headers = { authorization: `Bearer ${noisy.key}`, "content-type": "application/json" };
  return {
    "endpoints that hang": (options) => hangingReceivers.addBacklog(options, report),
    "creations at a slow processor": async (options) => {
      await callSandbox(system, "PUT", "/sandbox/faults", { operation: "register", mode: "slow:1800", times: 10_000 });
      await floodBeyondLimits(options, { method: "POST", path: "/api/v1/payments", headers, body: JSON.stringify(anOrder) });
    },
    searches: (options) => floodBeyondLimits(options, { method: "GET", path: "/api/v1/clients?search=zzz", headers }),
    // The gateway does not limit requests from this address, because genuine callbacks have come
    // from the address.
    "requests without a key": (options) =>
      flood(
        options,
        { method: "POST", path: "/callbacks/kyc", headers: { "x-provider-signature": `t=1,v1=${"0".repeat(64)}` }, body: "{}" },
        { method: "GET", path: `/api/v1/payments/return/${"x".repeat(43)}`, headers: {} },
      ),
  };
}

async function prepare(system: System, quiet: TestBusiness, count: number): Promise<PreparedPayments[]> {
  const preparePayments = async () => {
    const { id: paid } = await aPaidPayment(system, quiet);
    const { body } = await quiet.call("POST", "/api/v1/payments", anOrder);
    return { paid, pending: { id: String(body["id"]), orderId: String(body["processor_order_id"]) } };
  };
  return await Promise.all(Array.from({ length: count }, preparePayments));
}

/**
 * Performs and measures the quiet business's work with each prepared payment. Throws if a webhook
 * is missing.
 */
async function measure(
  system: System,
  quiet: TestBusiness,
  prepared: readonly PreparedPayments[],
  durations: Durations,
  report: Report,
): Promise<void> {
  const time = async (name: string, work: () => Promise<unknown>) => {
    const startedMs = performance.now();
    const result = await work();
    if (result === undefined) throw new Error(`${name} did not finish within ${webhookMsMax} ms`);
    durations.set(name, [...(durations.get(name) ?? []), performance.now() - startedMs]);
  };
  const callAndCheck = async (status: number, ...request: Parameters<TestBusiness["call"]>) => {
    const response = await quiet.call(...request);
    const hasExpectedStatus = response.status === status;
    report.check(
      "a request of the quiet business succeeds before and during noise",
      hasExpectedStatus,
      () => `${request[0]} ${request[1]}: ${response.status} ${response.text}`,
    );
    return response;
  };
  const waitForWebhook = (event: string, id: string) => quiet.receiver.next(event, id, webhookMsMax);

  // The card holder pays and does not return, so a later status read confirms the payment.
  // Therefore its webhook is awaited in parallel to the other work.
  const confirm = async ({ pending }: PreparedPayments) => {
    await callSandbox(system, "POST", `/sandbox/payments/${pending.orderId}/pay`, validCard);
    await time("confirmations", () => waitForWebhook("PAYMENT_COMPLETED", pending.id));
  };
  const sample = async ({ paid }: PreparedPayments) => {
    await time("reads", () => callAndCheck(200, "GET", `/api/v1/payments/${paid}`));
    await time("lists", () => callAndCheck(200, "GET", "/api/v1/clients?limit=10"));
    const email = `${performance.now()}@example.dz`;
    await time("creations", () => callAndCheck(201, "POST", "/api/v1/clients/person", { ...aPerson, email }));
    await time("refunds", () => callAndCheck(200, "POST", `/api/v1/payments/${paid}/refund`));
    await time("webhooks", () => waitForWebhook("PAYMENT_REFUNDED", paid));
  };
  const confirmations = prepared.map(confirm);
  const samples = (async () => {
    for (const payments of prepared) await sample(payments);
  })();
  await Promise.all([samples, ...confirmations]);
}

/**
 * Registers endpoints whose server never responds. `addBacklog` adds due deliveries to them, like
 * the deliveries that wait after an outage.
 */
async function createHangingEndpoints(system: System, noisy: TestBusiness) {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (let i = 0; i < hangingEndpointCount; i++) await noisy.call("POST", "/api/v1/webhook-endpoints", { url });
  const database = new Client(system.ownerDatabaseUrls["webhooks"] ?? "");
  await database.connect();
  return {
    async addBacklog({ signal, onStarted }: NoiseOptions, report: Report) {
      server.once("request", onStarted);
      await database.query(
        `with e as (
           insert into event (id, business_id, type, body, created_at)
           select uuidv7(), $1, 'PAYMENT_COMPLETED', '{}', now() from generate_series(1, $2) returning id
         ) insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at)
           select uuidv7(), $1, e.id, w.id, 'PENDING', now() - interval '1 hour'
           from e, webhook_endpoint w where w.business_id = $1 and w.url = $3`,
        [noisy.id, Math.ceil(dueDeliveryCount / hangingEndpointCount), url],
      );
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      // The backlog became due earlier than the webhooks of the quiet business, which have been
      // received by now. A part of the backlog must still be pending.
      const { rows } = await database.query<{ pending: number }>(
        "select count(*)::int as pending from delivery where business_id = $1 and status = 'PENDING'",
        [noisy.id],
      );
      const pending = rows[0]?.pending ?? 0;
      report.check("webhooks are delivered before the backlog of another business", pending > 0, () => `${pending} are pending`);
    },
    async removeBacklog() {
      await database.query("delete from delivery where business_id = $1 and status = 'PENDING'", [noisy.id]);
      await database.query("update webhook_endpoint set slow = false where business_id = $1", [noisy.id]);
    },
    async [Symbol.asyncDispose]() {
      await database.end();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
