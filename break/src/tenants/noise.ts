import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { System } from "@amana/dev-env/system";
import { aBusiness, anOrder, aPaidPayment, aPerson, sandbox, type TestBusiness, validCard } from "@amana/dev-env/test-system";
import { sleep } from "@amana/runtime";
import { Client } from "pg";
import { fire, type LoadRequest } from "../load/fire.ts";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

/**
 * How many times as long the median may take. Without the bounds it is a hundred times; the rest is
 * room for a busy machine. Of many rounds all samples are judged; a few say as much of the machine
 * as of the bounds, so the best of them has to be good: without bounds none is.
 */
const ratioMax = 10;
const roundsMin = 9;
const noiseSeconds = 3;
const samplesEach = 3;
/** Of what is slow in a few rounds. */
const moreRoundsMax = 5;
/**
 * What takes less when it is quiet counts as this: how a few milliseconds grow is the machine's
 * doing.
 */
const quietMsMin = 50;
/** Beyond, one sample is worth no more waiting. */
const webhookMsMax = 30_000;
const hangingEndpoints = 18;
const dueDeliveries = 20_000;

/** What a sample took in milliseconds, by what was done. */
type Measured = Map<string, number[]>;

/** What was measured before and beside a noise. */
interface Round {
  readonly before: Measured;
  readonly during: Measured;
}

/** What was measured of one kind of noise. */
interface Result {
  readonly name: string;
  readonly rounds: Round[];
}

/** What the quiet business needs before the noise, which would strike the making of it as well. */
interface Prepared {
  readonly paid: string;
  readonly pending: { readonly id: string; readonly orderId: string };
}

/**
 * One business makes noise while another reads, creates, refunds and waits to be told; in turns
 * with quiet and in one run, so that only ratios are compared.
 */
export async function makeNoise(
  system: System,
  { random, report, signal, say }: { random: Random; report: Report; signal: AbortSignal; say: (line: string) => void },
): Promise<void> {
  const [quiet, noisy] = [await aBusiness(system, "Quiet"), await aBusiness(system, "Noisy")];
  await using hanging = await hang(system, noisy);
  const kinds = noises(system, noisy, hanging);
  const results = Object.keys(kinds).map((name): Result => ({ name, rounds: [] }));
  await measure(system, quiet, await prepare(system, quiet, 1), new Map());

  const round = async ({ name, rounds }: Result) => {
    const before: Measured = new Map();
    const during: Measured = new Map();
    const prepared = await prepare(system, quiet, 2 * samplesEach);
    await measure(system, quiet, prepared.splice(0, samplesEach), before);
    report.count(`noise: ${name}`);
    const ends = kinds[name]?.();
    await sleep(1_000);
    await measure(system, quiet, prepared, during);
    rounds.push({ before, during });
    // What still waits at a slow processor has been heard long enough.
    await sandbox(system, "DELETE", "/sandbox/faults");
    await ends;
    await hanging.clear();
  };
  do {
    const order = results.map((one) => ({ one, turn: random.next() })).sort((a, b) => a.turn - b.turn);
    for (const { one } of order) await round(one);
  } while (!signal.aborted);
  for (const one of results) {
    const isSlow = () => ratios(one).some(({ median }) => median > ratioMax);
    for (let more = 0; more < moreRoundsMax && isSlow(); more++) await round(one);
  }

  for (const one of results) tell(one, report, say);
  for (const { receiver } of [quiet, noisy]) await receiver[Symbol.asyncDispose]();
}

/** How many times as long each thing takes. */
function ratios({ rounds }: Result) {
  const all: Round = { before: joined(rounds.map(({ before }) => before)), during: joined(rounds.map(({ during }) => during)) };
  return [...all.during].map(([what, times]) => {
    const ratio = ({ before, during }: Round, part: number) =>
      quantile(during.get(what) ?? [], part) / Math.max(quietMsMin, quantile(before.get(what) ?? [], part));
    const judged = rounds.length < roundsMin ? rounds : [all];
    return {
      what,
      median: Math.min(...judged.map((one) => ratio(one, 0.5))),
      p99: ratio(all, 0.99),
      samples: times.length,
    };
  });
}

function joined(measured: readonly Measured[]): Measured {
  const all: Measured = new Map();
  for (const one of measured) for (const [what, times] of one) all.set(what, [...(all.get(what) ?? []), ...times]);
  return all;
}

function tell(result: Result, report: Report, say: (line: string) => void): void {
  for (const { what, median, p99, samples } of ratios(result)) {
    const found = `${result.name}: ${what} take ${median.toFixed(1)} times as long`;
    say(`${found}, at p99 ${p99.toFixed(1)} times (${samples} samples)`);
    report.check("noise of another delays little", median <= ratioMax, () => found);
  }
}

/** What the noisy business does, each for some seconds. */
function noises(system: System, noisy: TestBusiness, hanging: { wake(): Promise<void> }): Record<string, () => Promise<unknown>> {
  const flood = (...requests: LoadRequest[]) =>
    fire({ url: system.gatewayUrl, requests, perSecond: 300, atOnceMax: 250, seconds: noiseSeconds });
  const headers = { authorization: `Bearer ${noisy.key}`, "content-type": "application/json" };
  return {
    "endpoints that hang": () => hanging.wake(),
    "creations at a slow processor": async () => {
      await sandbox(system, "PUT", "/sandbox/faults", { operation: "register", mode: "slow:1800", times: 10_000 });
      await flood({ method: "POST", path: "/api/v1/payments", headers, body: JSON.stringify(anOrder) });
    },
    searches: () => flood({ method: "GET", path: "/api/v1/clients?search=zzz", headers }),
    "requests without a key": () =>
      flood(
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

async function measure(system: System, quiet: TestBusiness, prepared: readonly Prepared[], into: Measured): Promise<void> {
  const time = async (what: string, work: () => Promise<unknown>) => {
    const startedMs = performance.now();
    const done = await work();
    if (done === undefined) throw new Error(`${what} did not come within ${webhookMsMax} ms`);
    into.set(what, [...(into.get(what) ?? []), performance.now() - startedMs]);
  };
  const answered = async (status: number, ...request: Parameters<TestBusiness["call"]>) => {
    const answer = await quiet.call(...request);
    if (answer.status !== status) throw new Error(`${request[0]} ${request[1]}: ${answer.status} ${answer.text}`);
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
    async wake() {
      await database.query(
        `with e as (
           insert into event (id, business_id, type, body, created_at)
           select uuidv7(), $1, 'PAYMENT_COMPLETED', '{}', now() from generate_series(1, $2) returning id
         ) insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at)
           select uuidv7(), $1, e.id, w.id, 'PENDING', now() - interval '1 hour'
           from e, webhook_endpoint w where w.business_id = $1 and w.url = $3`,
        [noisy.id, Math.ceil(dueDeliveries / hangingEndpoints), url],
      );
      await sleep(noiseSeconds * 1000);
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

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
