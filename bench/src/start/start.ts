import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDevFile } from "@amana/dev-env/dev-file";
import { startUnderGuard } from "@amana/dev-env/end-with-parent";
import { freePort } from "@amana/dev-env/free-port";
import { request } from "undici";
import { processorShares, readFiguresOfDescendants, readProcessFigures } from "../process-figures.ts";
import { log, median, printTable } from "../table.ts";

const idleSeconds = 10;
const root = join(import.meta.dirname, "..", "..", "..");

/**
 * Measures the time from the command `start` until the API first responds with status 200. A cold
 * start has an empty data folder. A warm start has the data folder of the cold start. Measures both
 * starts with direct events and with a local Kafka. Then measures memory and CPU of each idle
 * process.
 */
export async function measureStart({ rounds }: { rounds: number; seconds: number }) {
  const rows: Record<string, string | number>[] = [];
  let footprint: Record<string, string | number>[] = [];
  for (const events of ["direct", "kafka"]) {
    const figures = { cold: [] as number[], warm: [] as number[] };
    for (let round = 1; round <= rounds; round++) {
      const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
      try {
        for (const kind of ["cold", "warm"] as const) {
          const run = await startOnce(dir, events);
          figures[kind].push(run.seconds);
          log(`round ${round} of ${rounds}: ${events}, ${kind} data folder: ${run.seconds.toFixed(1)} s`);
          if (events === "kafka" && kind === "warm" && round === rounds) footprint = await measureIdle(run.pid);
          await run.stop();
        }
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    }
    rows.push({ events, "cold s": median(figures.cold).toFixed(1), "warm s": median(figures.warm).toFixed(1) });
  }
  printTable(rows);
  printTable(footprint);
  return { rows, footprint };
}

async function startOnce(dir: string, events: string) {
  const [port, sandboxPort] = await Promise.all([freePort(), freePort()]);
  const startedMs = performance.now();
  const child = startUnderGuard("SIGTERM", () =>
    spawn(process.execPath, [join(root, "packages", "dev-env", "src", "start.ts"), `--events=${events}`], {
      cwd: root,
      env: { ...process.env, AMANA_DIR: dir, PORT: String(port), SANDBOX_PORT: String(sandboxPort) },
      stdio: "ignore",
    }),
  );
  for (;;) {
    const file = await readDevFile(dir);
    const status = await request(`http://127.0.0.1:${port}/healthz`).then(
      (response) => response.body.dump().then(() => response.statusCode),
      () => 0,
    );
    if (status === 200 && file) break;
    if (child.exitCode !== null) throw new Error("the command `start` exited before the API responded");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return {
    seconds: (performance.now() - startedMs) / 1000,
    pid: child.pid ?? 0,
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** Measures memory and CPU of the command `start` and its descendants while they are idle. */
async function measureIdle(starterPid: number) {
  const readFigures = () => ({ start: readProcessFigures([starterPid]), ...readFiguresOfDescendants(starterPid) });
  const before = readFigures();
  await new Promise((resolve) => setTimeout(resolve, idleSeconds * 1000));
  const after = readFigures();
  const shares = processorShares(before, after, idleSeconds);
  return Object.entries(after).map(([name, { residentMb }]) => ({
    process: name,
    "memory MB": Math.round(residentMb),
    "idle CPU % of a core": (100 * (shares[name] ?? 0)).toFixed(1),
  }));
}
