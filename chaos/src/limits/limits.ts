import { generateApiKey } from "@amana/api-keys";
import { freePort } from "@amana/dev-env/free-port";
import { createServiceProcess } from "@amana/dev-env/service-process";
import { loopbackUrl } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import { sleep, uuidv7 } from "@amana/runtime";
import { request as httpRequest } from "undici";
import { type LoadRequest, sendLoad } from "../load/send-load.ts";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import type { Report } from "../report.ts";

const gatewayCount = 3;
const seconds = 4;
/**
 * Ratio of sent to allowed requests. Without shared buckets, three gateways would accept three
 * times the limit.
 */
const sentPerAllowed = 4;
/** Maximum ratio of accepted to allowed requests. With shared buckets, it is slightly above 1. */
const acceptedPerAllowedMax = 2;
/** Maximum number of tries until all gateways return a sufficient Retry-After. */
const retryAfterTriesMax = 60;

const distributions: Readonly<Record<string, readonly number[]>> = {
  evenly: [1, 1, 1],
  "nearly all to one": [8, 0.5, 0.5],
  "all to one": [3, 0, 0],
};

interface Limit {
  readonly perSecond: number;
  readonly burst: number;
  readonly request: (key: string) => LoadRequest;
}

let addressesUsed = 0;
/** Returns a caller address that no request has used. */
function createAddress(): string {
  addressesUsed++;
  return `198.18.${(addressesUsed >> 8) & 255}.${addressesUsed & 255}`;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Settings of the limits. A test system has no limits by default. */
const rates = {
  RATE_LIMIT_PER_SECOND: "50",
  RATE_LIMIT_BURST: "100",
  RATE_LIMIT_REFUND_PER_SECOND: "10",
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: "20",
  // Lets the program choose the callers' addresses with X-Forwarded-For.
  TRUSTED_PROXIES: "127.0.0.1",
};

/** The limits that `rates` configures, by name. */
const limitsByName: Readonly<Record<string, Limit>> = {
  requests: { perSecond: 50, burst: 100, request: (key) => ({ method: "GET", path: "/api/v1/me", headers: bearer(key) }) },
  refunds: {
    perSecond: 10,
    burst: 20,
    // The payment does not exist, but the gateway applies the limit before the payment is read.
    request: (key) => ({
      method: "POST",
      path: `/api/v1/payments/${uuidv7()}/refund`,
      headers: { ...bearer(key), "content-type": "application/json" },
      body: "{}",
    }),
  },
  "invalid keys": {
    perSecond: 20 / 60,
    burst: 20,
    request: () => ({
      method: "GET",
      path: "/api/v1/me",
      headers: { ...bearer(generateApiKey("sk_test_")), "x-forwarded-for": createAddress() },
    }),
  },
};

/** Sends more requests than the limits allow to three gateways of one system. */
export const limitsProgram: Program = {
  summary: "P7: send more requests than the limits allow to three gateways that must share the limits",
  async run({ seed, signal, report, log }) {
    const random = createRandom(seed);
    await using test = await startTestSystem("direct", { gateway: rates });
    const { system } = test;
    await using stack = new AsyncDisposableStack();
    const urls = [system.gatewayUrl];
    while (urls.length < gatewayCount) urls.push(await startGateway(system, stack));
    log(`${gatewayCount} gateways are running`);

    await attack("invalid keys", "evenly", urls, "", report, log);
    // Begins with equal shares, because only equal shares prove that the gateways share one limit.
    let distribution = "evenly";
    do {
      await sendBurst(createAddress(), urls, report, log);
      const name = random.pick(["requests", "requests", "refunds"]);
      const { key, receiver } = await aBusiness(system);
      await attack(name, distribution, urls, key, report, log);
      await receiver[Symbol.asyncDispose]();
      distribution = random.pick(Object.keys(distributions));
    } while (!signal.aborted);
  },
};

async function startGateway(system: System, stack: AsyncDisposableStack): Promise<string> {
  const port = await freePort();
  const process = createServiceProcess({
    name: "gateway",
    port,
    env: { ...system.envOf("gateway"), PORT: String(port) },
    logDir: system.logDir,
    supervised: false,
    onCrash: (name, output) => {
      throw new Error(`${name} exited unexpectedly:\n${output}`);
    },
  });
  await process.start();
  stack.defer(() => process.stop());
  return loopbackUrl(port);
}

async function attack(
  name: string,
  distribution: string,
  urls: readonly string[],
  key: string,
  report: Report,
  log: (line: string) => void,
): Promise<void> {
  const { perSecond, burst, request } = limitsByName[name] as Limit;
  const sentPerSecond = sentPerAllowed * (burst / seconds + perSecond);
  const shares = distributions[distribution] as readonly number[];
  const sum = shares.reduce((total, share) => total + share, 0);
  // Sends the same request to all gateways, so that all of them limit the same address.
  const requests = [request(key)];
  const outcomes = await Promise.all(
    urls.map((url, i) =>
      sendLoad({
        url,
        requests,
        perSecond: (sentPerSecond * (shares[i] ?? 0)) / sum,
        atOnceMax: 100,
        seconds,
      }),
    ),
  );
  const elapsedSeconds = Math.max(...outcomes.map((outcome) => outcome.seconds));
  const countOf = (isCounted: (status: string) => boolean) =>
    outcomes
      .flatMap(({ statuses }) => Object.entries(statuses))
      .reduce((total, [status, count]) => total + (isCounted(status) ? count : 0), 0);
  const total = countOf(() => true);
  const accepted = countOf((status) => status !== "429" && !status.startsWith("5"));
  const rejectedByLoad = countOf((status) => status === "503");
  const allowed = burst + perSecond * elapsedSeconds;
  log(
    `${name}, ${distribution}: ${accepted} of ${total} accepted, limit ${Math.round(allowed)}; ${rejectedByLoad} rejected because of load`,
  );
  report.count("requests", total);
  report.count(`${name}, ${distribution}: accepted, % of the limit`, Math.round((100 * accepted) / allowed));
  report.check(
    "all gateways together stay below twice the limit",
    accepted < acceptedPerAllowedMax * allowed,
    () => `${name}, ${distribution}: ${accepted} accepted, limit ${Math.round(allowed)}`,
  );
  const unexpected = countOf((status) => !/^(200|401|404|429|503)$/.test(status));
  const withoutRetryAfter = outcomes.reduce((sum, outcome) => sum + outcome.withoutRetryAfter, 0);
  report.check(
    "each rejection has Retry-After, and has status 429 or, because of load, status 503",
    unexpected + withoutRetryAfter === 0,
    () => JSON.stringify(outcomes),
  );
  // The bucket is full at first, so at least the burst must be accepted. Requests that a busy
  // gateway rejected with status 503 count as accepted.
  report.check(
    "at least the burst of a caller is accepted",
    accepted + rejectedByLoad >= Math.min(burst, total),
    () => `${name}, ${distribution}: ${accepted} of ${total} accepted, ${rejectedByLoad} rejected because of load`,
  );
}

/**
 * Sends a burst of requests without a key from one address to each gateway. Each gateway may accept
 * a whole burst, because it has not yet read what the other gateways accepted. All accepted
 * requests above the limit are the shared debt, which the Retry-After of every gateway must then
 * cover.
 */
async function sendBurst(address: string, urls: readonly string[], report: Report, log: (line: string) => void): Promise<void> {
  const { perSecond, burst } = limitsByName["invalid keys"] as Limit;
  const headers = { "x-forwarded-for": address };
  const sendWithoutKey = async (url: string) => {
    const response = await httpRequest(`${url}/api/v1/me`, { headers });
    await response.body.dump();
    return { status: response.statusCode, seconds: Number(response.headers["retry-after"] ?? 0) };
  };
  const startedMs = performance.now();
  const responses: Awaited<ReturnType<typeof sendWithoutKey>>[] = [];
  for (const url of urls) responses.push(...(await Promise.all(Array.from({ length: burst }, () => sendWithoutKey(url)))));
  const countAccepted = () => responses.filter(({ status }) => status === 401).length;
  const debtAgrees = (rejections: readonly { seconds: number }[]) => {
    const allowed = burst + (perSecond * (performance.now() - startedMs)) / 1000;
    const debtSeconds = (countAccepted() - allowed + 1) / perSecond;
    return rejections.every(({ seconds }) => Math.abs(seconds - debtSeconds) <= 2 / perSecond);
  };
  // A gateway that rejects requests reads the shared debt once a second.
  let rejections: typeof responses = [];
  let agrees = false;
  for (let tries = 0; !agrees && tries < retryAfterTriesMax; tries++) {
    await sleep(600);
    rejections = await Promise.all(urls.map(sendWithoutKey));
    responses.push(...rejections);
    agrees = debtAgrees(rejections);
  }
  const accepted = countAccepted();
  const retryAfters = rejections.map(({ seconds }) => seconds).join(", ");
  log(`${burst} requests without a key at each gateway: ${accepted} accepted, then Retry-After ${retryAfters} s`);
  report.count("bursts at each gateway");
  report.check("each gateway accepts at most one burst", accepted <= urls.length * (burst + 1), () => `${accepted} accepted`);
  report.check("every Retry-After covers the debt of all gateways together", agrees, () => `${retryAfters} s`);
}
