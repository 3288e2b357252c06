import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { median } from "@amana/bench/table";
import type { System } from "@amana/dev-env/system";
import { aBusiness, anOrder, aPaidPayment, aPerson, sandbox, type TestBusiness, validCard } from "@amana/e2e/test-system";
import { Client } from "pg";
import { fire, type LoadRequest } from "../load/fire.ts";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

const samplesEach = 2;
/** Upper bound of a flood, which ends with the work of the quiet business, after much less time. */
const noiseSecondsMax = 900;
/** Time limit of a webhook, for a busy machine. Without fair shares the backlog takes hours. */
const webhookMsMax = 120_000;
const hangingEndpoints = 18;
const dueDeliveries = 20_000;

/** What a sample took in milliseconds, by what was done. */
type Measured = Map<string, number[]>;

/** What the quiet business needs before the noise, which would strike the making of it as well. */
interface Prepared {
  readonly paid: string;
  readonly pending: { readonly id: string; readonly orderId: string };
}

/**
 * Makes noise with one business while another business reads, creates, refunds and waits for
 * webhooks. Checks that every request of the quiet business succeeds. Prints durations only.
 */
export async function makeNoise(
  system: System,
  { random, report, signal, say }: { random: Random; report: Report; signal: AbortSignal; say: (line: string) => void },
): Promise<void> {
  const [quiet, noisy] = [await aBusiness(system, "Quiet"), await aBusiness(system, "Noisy")];
  await using hanging = await hang(system, noisy);
  const kinds = Object.entries(noises(system, noisy, hanging, report));
  const [before, during] = [new Map<string, Measured>(), new Map<string, Measured>()];
  const measuredIn = (all: Map<string, Measured>, name: string) =>
    all.get(name) ?? all.set(name, new Map()).get(name) ?? new Map();
  await measure(system, quiet, await prepare(system, quiet, 1), new Map(), report);

  const round = async ([name, begin]: (typeof kinds)[number]) => {
    const prepared = await prepare(system, quiet, 2 * samplesEach);
    await measure(system, quiet, prepared.splice(0, samplesEach), measuredIn(before, name), report);
    report.count(`noise: ${name}`);
    const over = new AbortController();
    let noise: Promise<unknown> = Promise.resolve();
    await new Promise<void>((onFirst) => {
      noise = begin({ signal: over.signal, onFirst });
    });
    await measure(system, quiet, prepared, measuredIn(during, name), report);
    over.abort();
    // Without the fault, requests that wait for the slow processor end at once.
    await sandbox(system, "DELETE", "/sandbox/faults");
    await noise;
    await hanging.clear();
  };
  do {
    const order = kinds.map((one) => ({ one, turn: random.next() })).sort((a, b) => a.turn - b.turn);
    for (const { one } of order) await round(one);
  } while (!signal.aborted);

  for (const [name, measured] of during) {
    for (const [what, times] of measured) {
      const medians = [measuredIn(before, name).get(what) ?? [], times].map((each) => `${Math.round(median(each))} ms`);
      say(`${name}: ${what} take ${medians.join(" before and ")} during the noise (medians of ${times.length})`);
    }
  }
  for (const { receiver } of [quiet, noisy]) await receiver[Symbol.asyncDispose]();
}

/** Signal that ends a noise, and callback for its first effect. */
interface Span {
  readonly signal: AbortSignal;
  readonly onFirst: () => void;
}

/** Returns the kinds of noise that the noisy business makes. */
function noises(
  system: System,
  noisy: TestBusiness,
  hanging: { wake(span: Span, report: Report): Promise<void> },
  report: Report,
): Record<string, (span: Span) => Promise<unknown>> {
  const flood = async (span: Span, ...requests: LoadRequest[]) => {
    const load = { url: system.gatewayUrl, requests, perSecond: 300, atOnceMax: 250, seconds: noiseSecondsMax };
    return await fire(load, span);
  };
  const floodBeyondLimits = async (...load: Parameters<typeof flood>) => {
    const { statuses } = await flood(...load);
    const refused = statuses["429"] ?? 0;
    report.check("noise beyond the limits is refused with 429", refused > 0, () => JSON.stringify(statuses));
  };
  const headers = { authorization: `Bearer ${noisy.key}`, "content-type": "application/json" };
  return {
    "endpoints that hang": (span) => hanging.wake(span, report),
    "creations at a slow processor": async (span) => {
      await sandbox(system, "PUT", "/sandbox/faults", { operation: "register", mode: "slow:1800", times: 10_000 });
      await floodBeyondLimits(span, { method: "POST", path: "/api/v1/payments", headers, body: JSON.stringify(anOrder) });
    },
    searches: (span) => floodBeyondLimits(span, { method: "GET", path: "/api/v1/clients?search=zzz", headers }),
    // Genuine callbacks have come from this address, so no rate limit applies to it.
    "requests without a key": (span) =>
      flood(
        span,
        { method: "POST", path: "/callbacks/kyc", headers: { "x-provider-signature": `t=1,v1=${"0".repeat(64)}` }, body: "{}" },
        { method: "GET", path: `/api/v1/payments/return/${"x".repeat(43)}`, headers: {} },
      ),
  };
}

async function prepare(system: System, quiet: TestBusiness, count: number): Promise<Prepared[]> {
  const one = async () => {
    const { id: paid } = await aPaidPayment(system, quiet);
    const { body } = await quiet.call("POST", "/api/v1/payments", anOrder);
    return { paid, pending: { id: String(body["id"]), orderId: String(body["processor_order_id"]) } };
  };
  return await Promise.all(Array.from({ length: count }, one));
}

/** Does and measures all work for each prepared payment. Throws when a webhook does not arrive. */
async function measure(
  system: System,
  quiet: TestBusiness,
  prepared: readonly Prepared[],
  into: Measured,
  report: Report,
): Promise<void> {
  const time = async (what: string, work: () => Promise<unknown>) => {
    const startedMs = performance.now();
    const done = await work();
    if (done === undefined) throw new Error(`${what} did not come within ${webhookMsMax} ms`);
    into.set(what, [...(into.get(what) ?? []), performance.now() - startedMs]);
  };
  const answered = async (status: number, ...request: Parameters<TestBusiness["call"]>) => {
    const answer = await quiet.call(...request);
    const isFine = answer.status === status;
    report.check("a request beside noise succeeds", isFine, () => `${request[0]} ${request[1]}: ${answer.status} ${answer.text}`);
    return answer;
  };
  const told = (event: string, id: string) => quiet.receiver.next(event, id, webhookMsMax);

  // Card holders pay and never come back. To hear of it is waiting, which goes on beside the rest.
  const confirm = async ({ pending }: Prepared) => {
    await sandbox(system, "POST", `/sandbox/payments/${pending.orderId}/pay`, validCard);
    await time("confirms", () => told("PAYMENT_COMPLETED", pending.id));
  };
  const sample = async ({ paid }: Prepared) => {
    await time("reads", () => answered(200, "GET", `/api/v1/payments/${paid}`));
    await time("lists", () => answered(200, "GET", "/api/v1/clients?limit=10"));
    const email = `${performance.now()}@example.dz`;
    await time("creations", () => answered(201, "POST", "/api/v1/clients/person", { ...aPerson, email }));
    await time("refunds", () => answered(200, "POST", `/api/v1/payments/${paid}/refund`));
    await time("webhooks", () => told("PAYMENT_REFUNDED", paid));
  };
  const confirms = prepared.map(confirm);
  const samples = (async () => {
    for (const one of prepared) await sample(one);
  })();
  await Promise.all([samples, ...confirms]);
}

/**
 * Endpoints of a business that never answer, and as many deliveries to them as an outage leaves
 * behind.
 */
async function hang(system: System, noisy: TestBusiness) {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (let i = 0; i < hangingEndpoints; i++) await noisy.call("POST", "/api/v1/webhook-endpoints", { url });
  const database = new Client(system.ownerDatabaseUrls["webhooks"] ?? "");
  await database.connect();
  return {
    async wake({ signal, onFirst }: Span, report: Report) {
      server.once("request", onFirst);
      await database.query(
        `with e as (
           insert into event (id, business_id, type, body, created_at)
           select uuidv7(), $1, 'PAYMENT_COMPLETED', '{}', now() from generate_series(1, $2) returning id
         ) insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at)
           select uuidv7(), $1, e.id, w.id, 'PENDING', now() - interval '1 hour'
           from e, webhook_endpoint w where w.business_id = $1 and w.url = $3`,
        [noisy.id, Math.ceil(dueDeliveries / hangingEndpoints), url],
      );
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      // These deliveries were due before those of the quiet business, whose webhooks have arrived.
      const { rows } = await database.query<{ pending: number }>(
        "select count(*)::int as pending from delivery where business_id = $1 and status = 'PENDING'",
        [noisy.id],
      );
      const pending = rows[0]?.pending ?? 0;
      report.check("webhooks arrive before the backlog of another business", pending > 0, () => `${pending} are pending`);
    },
    async clear() {
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
