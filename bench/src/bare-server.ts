import { join } from "node:path";
import { freePort } from "@amana/dev-env/free-port";
import { spawnServer } from "@amana/dev-env/server-process";
import autocannon from "autocannon";
import { request } from "undici";
import { readProcessFigures } from "./process-figures.ts";

const connections = 32;

export interface BareServer {
  readonly url: string;
  readonly pid: number;
}

/** Starts a bare server, with which the benchmarks compare the system. */
export async function startBareServer(
  stack: AsyncDisposableStack,
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<BareServer> {
  const port = await freePort();
  const server = await spawnServer({
    command: process.execPath,
    args: [join(import.meta.dirname, program)],
    cwd: import.meta.dirname,
    env: { ...process.env, NODE_ENV: "production", PORT: String(port), ...env },
  });
  stack.defer(() => server.stop());
  for (let i = 0; i < 200; i++) {
    const isReady = await request(`http://127.0.0.1:${port}/healthz`).then(
      (response) => response.body.dump().then(() => true),
      () => false,
    );
    if (isReady) break;
    if (!server.isRunning()) throw new Error(`${program} did not start:\n${server.recentOutput()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url: `http://127.0.0.1:${port}`, pid: server.pid };
}

/** A POST request. It has an Idempotency-Key if `key` is set. */
export interface PostRequest {
  readonly path: string;
  readonly body: string;
  readonly key?: string;
}

/**
 * Sends requests on 32 connections, with at most one request in flight on each. Returns the rate,
 * the latency and the CPU time of the processes. `load` is the paths of GET requests, or a function
 * that returns the next POST request.
 */
export async function measureLoad(
  name: string,
  url: string,
  key: string,
  seconds: number,
  pids: readonly number[],
  load: readonly string[] | (() => PostRequest),
) {
  let clients = 0;
  const { cpuSeconds } = readProcessFigures(pids);
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${key}` },
    ...(typeof load === "function"
      ? { requests: [{ method: "POST", setupRequest: (request) => setUp(request, load()) }] }
      : { setupClient: (client) => client.setRequests(rotate(load, clients++).map((path) => ({ path }))) }),
  });
  const cpu = readProcessFigures(pids).cpuSeconds - cpuSeconds;
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${name}: ${result.non2xx} responses other than 2xx, ${result.errors} errors`);
  return { perSecond: result.requests.average, p99Ms: result.latency.p99, cpuUs: (cpu / result.requests.total) * 1e6 };
}

/** Returns the paths in an order that begins at another path for each connection. */
function rotate(paths: readonly string[], connection: number): string[] {
  const start = Math.floor((connection * paths.length) / connections);
  return [...paths.slice(start), ...paths.slice(0, start)];
}

/** Sets path and body. Sets the content-type header only if the request has a body. */
function setUp(request: autocannon.Request, { path, body, key }: PostRequest): autocannon.Request {
  const headers = {
    ...request.headers,
    ...(body && { "content-type": "application/json" }),
    ...(key !== undefined && { "idempotency-key": key }),
  };
  return { ...request, path, headers, ...(body && { body }) };
}
