import { processorShares, readFiguresOfDescendants } from "@amana/bench/process-figures";
import { median } from "@amana/bench/table";
import { eventually } from "@amana/dev-env/eventually";
import type { System } from "@amana/dev-env/system";
import { aBusiness, anOrder, aPerson, startTestSystem } from "@amana/e2e/test-system";
import { Client } from "pg";
import { type LoadOutcome, type LoadRequest, sendLoad } from "../load/send-load.ts";
import type { Program } from "../program.ts";
import { createRandom, type Random } from "../random.ts";
import type { Report } from "../report.ts";

/** Number of businesses. The load of each business stays below its rate limits. */
const businessCount = 12;
const clientsPerBusiness = 20;
const phaseSeconds = 3;
/**
 * Duration of a phase in runs shorter than `secondsForLongPhases`. It suffices for the checks, but
 * not for a reliable goodput in the log.
 */
const shortPhaseSeconds = 1;
const secondsForLongPhases = 60;
/**
 * Maximum number of requests in flight, each on its own connection. Requests that would exceed it
 * are not sent.
 */
const inFlightMax = 2_000;
const warmUpSeconds = 2;
const recoveryTriesMax = 60;
/** Number of connections that must wait for the locked table, out of the 20 in a service's pool. */
const waitingConnectionsMin = 18;
/** Smallest capacity, in requests per second, that the program assumes on a very busy machine. */
const capacityMin = 100;

export const overloadProgram: Program = {
  summary: "P7: send requests at two and ten times the capacity, then use up all database connections of a service",
  async run({ seed, seconds: runSeconds, signal, report, log }) {
    const random = createRandom(seed);
    const phase = runSeconds < secondsForLongPhases ? shortPhaseSeconds : phaseSeconds;
    await using test = await startTestSystem("direct", {
      gateway: { LOG_LEVEL: "warn" },
      clients: { LOG_LEVEL: "warn" },
    });
    const { system } = test;
    const requests = await prepareRequests(system, random);
    const send = async (perSecond: number, seconds: number, atOnceMax: number, when: string) => {
      const figuresBefore = readFiguresOfDescendants(process.pid);
      const outcome = await sendLoad({ url: system.gatewayUrl, requests: requests.all, perSecond, atOnceMax, seconds });
      const { goodput, goodMsP99, senderShare, statuses, unsent } = outcome;
      const shares = processorShares(figuresBefore, readFiguresOfDescendants(process.pid), outcome.seconds);
      checkOutcome(outcome, when, report);
      log(
        `${when}: goodput ${Math.round(goodput)}/s, p99 ${goodMsP99} ms; ` +
          `${JSON.stringify({ ...statuses, unsent })}; processor shares: ${JSON.stringify({ sender: senderShare, ...shares })}`,
      );
      return outcome;
    };
    const measureCapacity = () => send(Number.POSITIVE_INFINITY, phase, 32, "at capacity");
    await sendLoad({
      url: system.gatewayUrl,
      requests: requests.all,
      perSecond: Number.POSITIVE_INFINITY,
      atOnceMax: 32,
      seconds: Math.min(warmUpSeconds, phase),
    });

    const ratios: Record<string, number[]> = { "2 times": [], "10 times": [] };
    let capacityBefore = await measureCapacity();
    do {
      for (const times of [2, 10]) {
        const overloaded = await send(
          Math.max(capacityMin, capacityBefore.goodput) * times,
          phase,
          inFlightMax,
          `${times} times`,
        );
        await checkRecovery(requests.all, system, `${times} times`, report);
        const capacityAfter = await measureCapacity();
        // Compares with the mean of the capacities before and after the overload, because other
        // load of the machine varies.
        ratios[`${times} times`]?.push((2 * overloaded.goodput) / (capacityBefore.goodput + capacityAfter.goodput));
        capacityBefore = capacityAfter;
      }
    } while (!signal.aborted);
    await exhaustDatabase(system, requests, report);
    for (const [times, measured] of Object.entries(ratios))
      log(
        `goodput at ${times} the capacity: ${Math.round(100 * median(measured))} % of the capacity (median of ${measured.length})`,
      );
  },
};

/** Checks that every request gets a response, and that each rejection has Retry-After. */
function checkOutcome(outcome: LoadOutcome, when: string, report: Report): void {
  const { statuses, errors, withoutRetryAfter } = outcome;
  for (const [status, count] of Object.entries(statuses)) report.count(`${when}: ${status}`, count);
  const unexpected = Object.keys(statuses).filter((status) => !/^(2\d\d|429|503|504)$/.test(status));
  report.check("each rejection has status 429, 503 or 504", unexpected.length === 0, () => `${when}: ${unexpected.join(", ")}`);
  report.check(
    "each rejection has Retry-After",
    withoutRetryAfter === 0,
    () => `${when}: ${withoutRetryAfter} rejections without Retry-After`,
  );
  report.check("every request gets a response", errors.length === 0, () => `${when}: ${errors.slice(0, 3).join("; ")}`);
}

/**
 * Sends a light load until every response has a 2xx status. Records a violation if this needs more
 * than `recoveryTriesMax` tries.
 */
async function checkRecovery(requests: readonly LoadRequest[], system: System, when: string, report: Report): Promise<void> {
  const isSuccessful = (outcome: LoadOutcome) => Object.keys(outcome.statuses).every((status) => status.startsWith("2"));
  let outcome: LoadOutcome | undefined;
  for (let tries = 0; tries < recoveryTriesMax && !(outcome && isSuccessful(outcome)); tries++)
    outcome = await sendLoad({ url: system.gatewayUrl, requests, perSecond: 20, atOnceMax: 50, seconds: 1 });
  report.check(
    "the system recovers",
    outcome !== undefined && isSuccessful(outcome),
    () => `${when}: ${JSON.stringify(outcome)}`,
  );
}

/**
 * Locks a table, so that requests for this table use all database connections of the service.
 * Checks that requests to other services succeed during the lock.
 */
async function exhaustDatabase(system: System, requests: Requests, report: Report): Promise<void> {
  const database = new Client(system.ownerDatabaseUrls["clients"] ?? "");
  await database.connect();
  await database.query("begin");
  await database.query("lock table client in access exclusive mode");
  report.count("databases with all connections taken");
  const loadEnds = new AbortController();
  const waitingLoad = sendLoad(
    { url: system.gatewayUrl, requests: requests.clients, perSecond: 200, atOnceMax: 2_000, seconds: 600 },
    { signal: loadEnds.signal },
  );
  await eventually(async () => {
    const query = "select count(*)::int as waiting from pg_locks where relation = 'client'::regclass and not granted";
    const { rows } = await database.query<{ waiting: number }>(query);
    if ((rows[0]?.waiting ?? 0) < waitingConnectionsMin)
      throw new Error(`only ${rows[0]?.waiting} of ${waitingConnectionsMin} connections wait for the lock on the table`);
  }, 60_000);
  const otherLoad = await sendLoad({
    url: system.gatewayUrl,
    requests: requests.payments,
    perSecond: 50,
    atOnceMax: 200,
    seconds: 2,
  });
  loadEnds.abort();
  await database.query("rollback");
  await database.end();
  checkOutcome(await waitingLoad, "with all connections taken", report);
  checkOutcome(otherLoad, "at other services during the attack", report);
  report.check(
    "requests to other services succeed",
    Object.keys(otherLoad.statuses).every((status) => status.startsWith("2")),
    () => JSON.stringify(otherLoad.statuses),
  );
  await checkRecovery(requests.all, system, "with all connections taken", report);
}

interface Requests {
  readonly all: readonly LoadRequest[];
  readonly clients: readonly LoadRequest[];
  readonly payments: readonly LoadRequest[];
}

/**
 * Returns requests of several businesses to list, read and create resources. The seed determines
 * their order.
 */
async function prepareRequests(system: System, random: Random): Promise<Requests> {
  const clients: LoadRequest[] = [];
  const payments: LoadRequest[] = [];
  for (let i = 0; i < businessCount; i++) {
    const { call, key, receiver } = await aBusiness(system, `Épicerie ${i}`);
    await receiver[Symbol.asyncDispose]();
    const headers = { authorization: `Bearer ${key}` };
    const responses = await Promise.all(
      Array.from({ length: clientsPerBusiness }, (_, j) =>
        call("POST", "/api/v1/clients/person", { ...aPerson, email: `a${j}@example.dz` }),
      ),
    );
    const ids = responses.filter(({ status }) => status === 201).map(({ body }) => String(body["id"]));
    const payment = await call("POST", "/api/v1/payments", anOrder);
    for (let j = 0; j < 20; j++) {
      const id = random.pick(ids);
      clients.push({ method: "GET", path: `/api/v1/clients/${id}`, headers });
      clients.push({ method: "GET", path: `/api/v1/clients?limit=50&offset=${random.integer(0, 49)}`, headers });
      const body = JSON.stringify({ ...aPerson, email: `{unique}@example.dz` });
      clients.push({
        method: "POST",
        path: "/api/v1/clients/person",
        headers: { ...headers, "content-type": "application/json" },
        body,
      });
    }
    payments.push({ method: "GET", path: "/api/v1/payments?limit=10", headers });
    payments.push({ method: "GET", path: `/api/v1/payments/${payment.body["id"]}`, headers });
  }
  const shuffled = [...clients, ...payments]
    .map((request) => ({ request, position: random.next() }))
    .sort((a, b) => a.position - b.position);
  return { all: shuffled.map(({ request }) => request), clients, payments };
}
