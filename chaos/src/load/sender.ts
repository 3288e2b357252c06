/** The thread that sends a load and tells its outcome. */
import { randomUUID } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { sleep } from "@amana/runtime";
import { Connection } from "./connection.ts";
import { goodMsMax, hangMs, type Load, type LoadRequest, type Outcome } from "./fire.ts";

const load = workerData as Load;
const tickMs = 10;
const mustSayWhen = new Set([429, 503, 504]);

const url = new URL(load.url);
const idle: Connection[] = [];
const statuses: Record<string, number> = {};
const errors: string[] = [];
let [underWay, begun, unsent, withoutRetryAfter, good] = [0, 0, 0, 0, 0];
const goodMs: number[] = [];
const isPaced = load.perSecond !== Number.POSITIVE_INFINITY;
if (isPaced) await connect();
const startedMs = performance.now();
const startedCpu = process.threadCpuUsage();
let endsMs = startedMs + load.seconds * 1000;
parentPort?.once("message", () => {
  endsMs = Math.min(endsMs, performance.now());
});
// The listener must not keep this thread alive.
parentPort?.unref();
/** The first answers of a flood take their time, and the last come after it. */
const countsFromMs = startedMs + Math.min(1_000, load.seconds * 500);

const written = new Map<LoadRequest, string>();
function textOf(one: LoadRequest): string {
  let text = written.get(one);
  if (text === undefined) {
    const body = one.body?.replace("{unique}", randomUUID()) ?? "";
    const headers = Object.entries({
      host: url.host,
      ...one.headers,
      ...(one.body && { "content-length": Buffer.byteLength(body) }),
    });
    text = `${one.method} ${one.path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
    if (!one.body?.includes("{unique}")) written.set(one, text);
  }
  return text;
}

/**
 * Little by little: thousands at once would overflow the row of those to be accepted, which is not
 * what is tried here.
 */
async function connect(): Promise<void> {
  while (idle.length < load.atOnceMax) {
    for (let i = 0; i < 20; i++) idle.push(new Connection(url));
    await sleep(20);
  }
}

async function send(one: LoadRequest): Promise<void> {
  const sentMs = performance.now();
  underWay++;
  const connection = idle.pop() ?? new Connection(url);
  const timer = setTimeout(() => connection.destroy(new Error(`no answer within ${hangMs} ms`)), hangMs);
  try {
    const { status, saysWhen } = await connection.send(textOf(one));
    const endedMs = performance.now();
    if (Object.keys(statuses).length === 0) parentPort?.postMessage("first");
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status < 300) goodMs.push(endedMs - sentMs);
    if (status < 300 && endedMs - sentMs <= goodMsMax && endedMs >= countsFromMs && endedMs <= endsMs) good++;
    if (mustSayWhen.has(status) && !saysWhen) withoutRetryAfter++;
    if (connection.isOpen) idle.push(connection);
  } catch (error) {
    errors.push(String(error));
  } finally {
    clearTimeout(timer);
    underWay--;
    if (!isPaced) sendDue();
  }
}

function sendDue(): void {
  const nowMs = performance.now();
  if (nowMs >= endsMs) return;
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
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.threadCpuUsage(startedCpu);
  goodMs.sort((a, b) => a - b);
  const outcome: Outcome = {
    statuses,
    unsent,
    errors: errors.slice(0, 20),
    withoutRetryAfter,
    goodput: good / ((endsMs - countsFromMs) / 1000),
    goodMsP99: Math.round(goodMs[Math.floor(goodMs.length * 0.99)] ?? 0),
    senderShare: Math.round((user + system) / seconds / 10_000) / 100,
    seconds,
  };
  parentPort?.postMessage(outcome);
  for (const connection of idle) connection.destroy();
}, tickMs);
