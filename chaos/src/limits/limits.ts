import { generateApiKey } from "@amana/api-keys";
import { freePort } from "@amana/dev-env/free-port";
import { serviceProcess } from "@amana/dev-env/service-process";
import { loopbackUrl } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import { sleep, uuidv7 } from "@amana/runtime";
import { request as httpRequest } from "undici";
import { fire, type LoadRequest } from "../load/fire.ts";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import type { Report } from "../report.ts";

const gateways = 3;
const seconds = 4;
/** Ratio of sent to allowed requests. Gateways without shared buckets let through three for each. */
const askedPerAllowed = 4;
/** Maximum ratio of accepted to allowed requests; with shared buckets it is little above 1. */
const passedPerAllowedMax = 2;
/** Maximum number of tries until the Retry-After of all gateways agrees. */
const toldTriesMax = 60;

const ways: Readonly<Record<string, readonly number[]>> = {
  evenly: [1, 1, 1],
  "nearly all to one": [8, 0.5, 0.5],
  "all to one": [3, 0, 0],
};

interface Limit {
  readonly perSecond: number;
  readonly burst: number;
  readonly request: (key: string) => LoadRequest;
}

let addresses = 0;
/** One that has tried nothing yet. */
function freshAddress(): string {
  addresses++;
  return `198.18.${(addresses >> 8) & 255}.${addresses & 255}`;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Settings of the limits, because systems under test have none by default. */
const rates = {
  RATE_LIMIT_PER_SECOND: "50",
  RATE_LIMIT_BURST: "100",
  RATE_LIMIT_REFUND_PER_SECOND: "10",
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: "20",
  // So that a caller can come from any address.
  TRUSTED_PROXIES: "127.0.0.1",
};

/** As those settings have them. */
const kinds: Readonly<Record<string, Limit>> = {
  requests: { perSecond: 50, burst: 100, request: (key) => ({ method: "GET", path: "/api/v1/me", headers: bearer(key) }) },
  refunds: {
    perSecond: 10,
    burst: 20,
    // Of no payment there is: only the limit is asked for.
    request: (key) => ({
      method: "POST",
      path: `/api/v1/payments/${uuidv7()}/refund`,
      headers: { ...bearer(key), "content-type": "application/json" },
      body: "{}",
    }),
  },
  "keys that are none": {
    perSecond: 20 / 60,
    burst: 20,
    request: () => ({
      method: "GET",
      path: "/api/v1/me",
      headers: { ...bearer(generateApiKey("sk_test_")), "x-forwarded-for": freshAddress() },
    }),
  },
};

/** Three gateways before one system, and callers who ask all of them for more than they may have. */
export const limits: Program = {
  attacks: "P7: several gateways asked at once let no more through than one",
  async run({ seed, signal, report, say }) {
    const random = createRandom(seed);
    await using test = await startTestSystem("direct", { gateway: rates });
    const { system } = test;
    await using others = new AsyncDisposableStack();
    const urls = [system.gatewayUrl];
    while (urls.length < gateways) urls.push(await startGateway(system, others));
    say(`${gateways} gateways run`);

    await attack("keys that are none", "evenly", urls, "", report, say);
    // Begins with even shares, because only these show whether the gateways share one limit.
    let way = "evenly";
    do {
      await burst(freshAddress(), urls, report, say);
      const name = random.pick(["requests", "requests", "refunds"]);
      const { key, receiver } = await aBusiness(system);
      await attack(name, way, urls, key, report, say);
      await receiver[Symbol.asyncDispose]();
      way = random.pick(Object.keys(ways));
    } while (!signal.aborted);
  },
};

async function startGateway(system: System, others: AsyncDisposableStack): Promise<string> {
  const port = await freePort();
  const process = serviceProcess({
    name: "gateway",
    port,
    env: { ...system.envOf("gateway"), PORT: String(port) },
    logDir: system.logDir,
    supervised: false,
    onCrash: (name, output) => {
      throw new Error(`${name} ended by itself:\n${output}`);
    },
  });
  await process.start();
  others.defer(() => process.stop());
  return loopbackUrl(port);
}

async function attack(
  name: string,
  way: string,
  urls: readonly string[],
  key: string,
  report: Report,
  say: (line: string) => void,
): Promise<void> {
  const { perSecond, burst, request } = kinds[name] as Limit;
  const askedPerSecond = askedPerAllowed * (burst / seconds + perSecond);
  const shares = ways[way] as readonly number[];
  const sum = shares.reduce((total, share) => total + share, 0);
  // The same at all of them: an address's failed tries count once.
  const requests = [request(key)];
  const outcomes = await Promise.all(
    urls.map((url, i) =>
      fire({
        url,
        requests,
        perSecond: (askedPerSecond * (shares[i] ?? 0)) / sum,
        atOnceMax: 100,
        seconds,
      }),
    ),
  );
  const took = Math.max(...outcomes.map((outcome) => outcome.seconds));
  const answered = (counts: (status: string) => boolean) =>
    outcomes
      .flatMap(({ statuses }) => Object.entries(statuses))
      .reduce((total, [status, count]) => total + (counts(status) ? count : 0), 0);
  const all = answered(() => true);
  const passed = answered((status) => status !== "429" && !status.startsWith("5"));
  const shed = answered((status) => status === "503");
  const allowed = burst + perSecond * took;
  say(`${name}, ${way}: ${passed} let through of ${all}, where ${Math.round(allowed)} may be; ${shed} refused for load`);
  report.count("requests", all);
  report.count(`${name}, ${way}: let through, % of the limit`, Math.round((100 * passed) / allowed));
  report.check(
    "all gateways together stay below twice the limit",
    passed < passedPerAllowedMax * allowed,
    () => `${name}, ${way}: ${passed} where ${Math.round(allowed)} may be`,
  );
  const others = answered((status) => !/^(200|401|404|429|503)$/.test(status));
  const silent = outcomes.reduce((sum, { withoutRetryAfter }) => sum + withoutRetryAfter, 0);
  report.check("refusals are 429, or 503 for load, and say when to come back", others + silent === 0, () =>
    JSON.stringify(outcomes),
  );
  // The bucket is full at first. Requests that a busy gateway rejects with 503 would have passed.
  report.check(
    "a caller gets at least the burst",
    passed + shed >= Math.min(burst, all),
    () => `${name}, ${way}: ${passed} of ${all}, ${shed} refused for load`,
  );
}

/**
 * A burst without a key at each gateway, from one address: each may let its own pass, since none
 * has heard of the others. What is owed then is told by all of them alike.
 */
async function burst(address: string, urls: readonly string[], report: Report, say: (line: string) => void): Promise<void> {
  const { perSecond, burst } = kinds["keys that are none"] as Limit;
  const headers = { "x-forwarded-for": address };
  const ask = async (url: string) => {
    const answer = await httpRequest(`${url}/api/v1/me`, { headers });
    await answer.body.dump();
    return { status: answer.statusCode, seconds: Number(answer.headers["retry-after"] ?? 0) };
  };
  const startedMs = performance.now();
  const answers: Awaited<ReturnType<typeof ask>>[] = [];
  for (const url of urls) answers.push(...(await Promise.all(Array.from({ length: burst }, () => ask(url)))));
  const passedSoFar = () => answers.filter(({ status }) => status === 401).length;
  const debtAgrees = (told: readonly { seconds: number }[]) => {
    const allowed = burst + (perSecond * (performance.now() - startedMs)) / 1000;
    const debtSeconds = (passedSoFar() - allowed + 1) / perSecond;
    return told.every(({ seconds }) => Math.abs(seconds - debtSeconds) <= 2 / perSecond);
  };
  // A gateway that rejects requests reads the shared debt once a second.
  let told: typeof answers = [];
  let agrees = false;
  for (let tries = 0; !agrees && tries < toldTriesMax; tries++) {
    await sleep(600);
    told = await Promise.all(urls.map(ask));
    answers.push(...told);
    agrees = debtAgrees(told);
  }
  const passed = passedSoFar();
  const waits = told.map(({ seconds }) => seconds).join(", ");
  say(`${burst} tries without a key at each gateway: ${passed} let through, then Retry-After ${waits} s`);
  report.count("bursts at each gateway");
  report.check("a burst passes once at each gateway at most", passed <= urls.length * (burst + 1), () => `${passed} passed`);
  report.check("every Retry-After covers the debt of all gateways together", agrees, () => `${waits} s`);
}
