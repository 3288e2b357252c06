import { join } from "node:path";
import { freePort } from "@amana/dev-env/free-port";
import { spawnServer } from "@amana/dev-env/server-process";
import autocannon from "autocannon";
import { request } from "undici";
import { processFigures } from "./process-figures.ts";

const connections = 32;

export interface BareServer {
  readonly url: string;
  readonly pid: number;
}

/** Starts a server of one process: what all else is measured by. */
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
    env: { ...process.env, PORT: String(port), ...env },
  });
  stack.defer(() => server.stop());
  for (let i = 0; i < 200; i++) {
    const up = await request(`http://127.0.0.1:${port}/healthz`).then(
      (answer) => answer.body.dump().then(() => true),
      () => false,
    );
    if (up) break;
    if (!server.running()) throw new Error(`${program} did not start:\n${server.recentOutput()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url: `http://127.0.0.1:${port}`, pid: server.pid };
}

/** A POST. */
export interface Call {
  readonly path: string;
  readonly body: string;
}

/**
 * Requests one after the other on 32 connections, and what these processes used meanwhile. With
 * `next` each is another one; without, the address is read.
 */
export async function load(name: string, url: string, key: string, seconds: number, pids: readonly number[], next?: () => Call) {
  const { cpuSeconds } = processFigures(pids);
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${key}` },
    ...(next && { requests: [{ method: "POST", setupRequest: (request) => setUp(request, next()) }] }),
  });
  const cpu = processFigures(pids).cpuSeconds - cpuSeconds;
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${name}: ${result.non2xx} refusals, ${result.errors} errors`);
  return { perSecond: result.requests.average, p99Ms: result.latency.p99, cpuUs: (cpu / result.requests.total) * 1e6 };
}

/** A body that is not there has no type either. */
function setUp(request: autocannon.Request, { path, body }: Call): autocannon.Request {
  const headers = { ...request.headers, ...(body && { "content-type": "application/json" }) };
  return { ...request, path, headers, ...(body && { body }) };
}
