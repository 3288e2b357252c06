/** Worker thread that sends a load and posts its outcome. */
import { randomUUID } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { sleep } from "@amana/runtime";
import { Connection } from "./connection.ts";
import { goodMsMax, type Load, type LoadOutcome, type LoadRequest, responseMsMax } from "./send-load.ts";

const load = workerData as Load;
const tickMs = 10;
const needsRetryAfter = new Set([429, 503, 504]);

const url = new URL(load.url);
const idle: Connection[] = [];
const statuses: Record<string, number> = {};
const errors: string[] = [];
let [inFlight, started, unsent, withoutRetryAfter, goodCount] = [0, 0, 0, 0, 0];
const goodMs: number[] = [];
const isPaced = load.perSecond !== Number.POSITIVE_INFINITY;
if (isPaced) await connect();
const startedMs = performance.now();
const startedCpu = process.threadCpuUsage();
let endsMs = startedMs + load.seconds * 1000;
parentPort?.once("message", () => {
  endsMs = Math.min(endsMs, performance.now());
});
// Lets this thread exit at the end of the load, although it still listens for messages.
parentPort?.unref();
/** Start of the goodput measurement. Skips the first responses, because they are slow. */
const countsFromMs = startedMs + Math.min(1_000, load.seconds * 500);

const requestTexts = new Map<LoadRequest, string>();
function formatRequest(request: LoadRequest): string {
  let text = requestTexts.get(request);
  if (text === undefined) {
    const body = request.body?.replace("{unique}", randomUUID()) ?? "";
    const headers = Object.entries({
      host: url.host,
      ...request.headers,
      ...(request.body && { "content-length": Buffer.byteLength(body) }),
    });
    text = `${request.method} ${request.path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
    if (!request.body?.includes("{unique}")) requestTexts.set(request, text);
  }
  return text;
}

/** Opens connections in small groups, so that the accept queue of the server does not overflow. */
async function connect(): Promise<void> {
  while (idle.length < load.atOnceMax) {
    for (let i = 0; i < 20; i++) idle.push(new Connection(url));
    await sleep(20);
  }
}

async function send(request: LoadRequest): Promise<void> {
  const sentMs = performance.now();
  inFlight++;
  const connection = idle.pop() ?? new Connection(url);
  const timer = setTimeout(() => connection.destroy(new Error(`no response within ${responseMsMax} ms`)), responseMsMax);
  try {
    const { status, hasRetryAfter } = await connection.send(formatRequest(request));
    const endedMs = performance.now();
    if (Object.keys(statuses).length === 0) parentPort?.postMessage("first");
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status < 300) goodMs.push(endedMs - sentMs);
    if (status < 300 && endedMs - sentMs <= goodMsMax && endedMs >= countsFromMs && endedMs <= endsMs) goodCount++;
    if (needsRetryAfter.has(status) && !hasRetryAfter) withoutRetryAfter++;
    if (connection.isOpen) idle.push(connection);
  } catch (error) {
    errors.push(String(error));
  } finally {
    clearTimeout(timer);
    inFlight--;
    if (!isPaced) sendDue();
  }
}

function sendDue(): void {
  const nowMs = performance.now();
  if (nowMs >= endsMs) return;
  let due = isPaced ? Math.floor(((nowMs - startedMs) * load.perSecond) / 1000) - started : load.atOnceMax - inFlight;
  for (; due > 0; due--) {
    const next = load.requests[started++ % load.requests.length] as LoadRequest;
    if (inFlight < load.atOnceMax) void send(next);
    else unsent++;
  }
}

const timer = setInterval(() => {
  sendDue();
  if (performance.now() < endsMs || inFlight > 0) return;
  clearInterval(timer);
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.threadCpuUsage(startedCpu);
  goodMs.sort((a, b) => a - b);
  const outcome: LoadOutcome = {
    statuses,
    unsent,
    errors: errors.slice(0, 20),
    withoutRetryAfter,
    goodput: goodCount / ((endsMs - countsFromMs) / 1000),
    goodMsP99: Math.round(goodMs[Math.floor(goodMs.length * 0.99)] ?? 0),
    senderShare: Math.round((user + system) / seconds / 10_000) / 100,
    seconds,
  };
  parentPort?.postMessage(outcome);
  for (const connection of idle) connection.destroy();
}, tickMs);
