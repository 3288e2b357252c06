import { join } from "node:path";
import type { System } from "@amana/dev-env";
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

/** Starts a server of one process on the system's databases: what all else is measured by. */
export async function startBareServer(stack: AsyncDisposableStack, system: System, program: string): Promise<BareServer> {
  const port = await freePort();
  const server = await spawnServer({
    command: process.execPath,
    args: [join(import.meta.dirname, program)],
    cwd: import.meta.dirname,
    env: {
      ...process.env,
      PORT: String(port),
      IDENTITY_DATABASE_URL: system.databaseUrls["identity"],
      PAYMENTS_DATABASE_URL: system.databaseUrls["payments"],
    },
    exitSignal: "SIGTERM",
    log: () => {},
  });
  stack.defer(() =>
    server.stop([
      { signal: "SIGTERM", waitMs: 2_000 },
      { signal: "SIGKILL", waitMs: 2_000 },
    ]),
  );
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

/** Requests one after the other on 32 connections, and what these processes used meanwhile. */
export async function load(name: string, url: string, key: string, seconds: number, pids: readonly number[]) {
  const { cpuSeconds } = processFigures(pids);
  const result = await autocannon({ url, connections, duration: seconds, headers: { authorization: `Bearer ${key}` } });
  const cpu = processFigures(pids).cpuSeconds - cpuSeconds;
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${name}: ${result.non2xx} refusals, ${result.errors} errors`);
  return { perSecond: result.requests.average, p99Ms: result.latency.p99, cpuUs: (cpu / result.requests.total) * 1e6 };
}
