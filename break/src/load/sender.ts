/** The thread that sends a load and tells its outcome. */
import { parentPort, workerData } from "node:worker_threads";
import { Agent, request } from "undici";
import { hangMs, type Load, type LoadRequest, type Outcome } from "./fire.ts";

const load = workerData as Load;
const tickMs = 10;
const mustSayWhen = new Set([429, 503, 504]);

const agent = new Agent({ connections: load.atOnceMax, pipelining: 1, connect: { timeout: hangMs } });
const statuses: Record<string, number> = {};
const errors: string[] = [];
let [underWay, begun, unsent, withoutRetryAfter, longestMs, good] = [0, 0, 0, 0, 0, 0];
const startedMs = performance.now();
const endsMs = startedMs + load.seconds * 1000;
/** The first answers of a flood take their time, and the last come after it. */
const countsFromMs = startedMs + Math.min(1_000, load.seconds * 500);

async function send({ path, ...rest }: LoadRequest): Promise<void> {
  const sentMs = performance.now();
  underWay++;
  try {
    const signal = AbortSignal.timeout(hangMs);
    const { statusCode, headers, body } = await request(`${load.url}${path}`, { ...rest, dispatcher: agent, signal });
    await body.dump();
    const endedMs = performance.now();
    statuses[statusCode] = (statuses[statusCode] ?? 0) + 1;
    longestMs = Math.max(longestMs, endedMs - sentMs);
    if (statusCode < 300 && endedMs >= countsFromMs && endedMs <= endsMs) good++;
    if (mustSayWhen.has(statusCode) && headers["retry-after"] === undefined) withoutRetryAfter++;
  } catch (error) {
    errors.push(String(error));
  } finally {
    underWay--;
    if (load.perSecond === Number.POSITIVE_INFINITY) sendDue();
  }
}

function sendDue(): void {
  const nowMs = performance.now();
  if (nowMs >= endsMs) return;
  const isPaced = load.perSecond !== Number.POSITIVE_INFINITY;
  let due = isPaced ? Math.floor(((nowMs - startedMs) * load.perSecond) / 1000) - begun : load.atOnceMax - underWay;
  for (; due > 0; due--) {
    const next = load.requests[begun++ % load.requests.length] as LoadRequest;
    if (underWay < load.atOnceMax) void send(next);
    else unsent++;
  }
}

const timer = setInterval(() => {
  sendDue();
  if (performance.now() < endsMs || underWay > 0) return;
  clearInterval(timer);
  const goodput = good / ((endsMs - countsFromMs) / 1000);
  const outcome: Outcome = { statuses, unsent, errors: errors.slice(0, 20), withoutRetryAfter, longestMs, goodput };
  parentPort?.postMessage(outcome);
  void agent.destroy();
}, tickMs);
