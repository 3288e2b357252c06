import type { ServiceProcess } from "@amana/dev-env/service-process";
import { sleep } from "@amana/runtime";
import type { Pool } from "pg";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

/** Longer than a lease on a refund, which is 6 s. */
const frozenMsDefault = 8_000;

/** Application name of the program's own database connections. `injectFaults` does not cut them. */
export const applicationName = "chaos";

/**
 * Kills and freezes the replicas and cuts their database connections until `signal` is aborted.
 * When the function returns, all replicas run again.
 */
export async function injectFaults(options: {
  replicas: readonly Pick<ServiceProcess, "kill" | "start" | "pid">[];
  /** Maximum time for which a replica is frozen. The default is longer than a lease. */
  frozenMsMax?: number;
  database: Pool;
  random: Random;
  report: Report;
  signal: AbortSignal;
}): Promise<void> {
  const { replicas, frozenMsMax = frozenMsDefault, database, report, signal } = options;
  const repeat = async (pauseMsMax: number, random: Random, inject: () => Promise<void>) => {
    while (!signal.aborted) {
      await sleep(random.integer(100, pauseMsMax), signal);
      if (!signal.aborted) await inject();
    }
  };
  const kill = async (replica: (typeof replicas)[number], random: Random) => {
    await replica.kill();
    report.count("replicas killed (-9)");
    await sleep(random.integer(0, 1_500), signal);
    await replica.start();
  };
  const freeze = async (replica: (typeof replicas)[number], random: Random) => {
    const pid = replica.pid();
    if (pid === undefined) return;
    process.kill(pid, "SIGSTOP");
    report.count("replicas frozen (SIGSTOP)");
    await sleep(random.integer(200, random.chance(0.3) ? frozenMsMax : 2_000), signal);
    process.kill(pid, "SIGCONT");
  };
  const cutConnections = async () => {
    const { rowCount } = await database.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = current_user and application_name <> $1",
      [applicationName],
    );
    report.count("database connections cut", rowCount ?? 0);
  };
  const [cutRandom, ...replicaRandoms] = [options.random.fork(), ...replicas.map(() => options.random.fork())];
  await Promise.all([
    repeat(4_000, cutRandom, cutConnections),
    ...replicas.map((replica, index) => {
      const random = replicaRandoms[index] ?? cutRandom;
      return repeat(6_000, random, () => (random.chance(0.5) ? kill : freeze)(replica, random));
    }),
  ]);
}
