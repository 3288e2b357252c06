import { existsSync } from "node:fs";
import { readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { callSandbox } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { InterruptedDeliveries } from "../events/interrupted-deliveries.ts";
import type { Replica } from "../rolling/replicas.ts";
import { applicationName, type MatrixSystem } from "./matrix-system.ts";
import type { Fault } from "./schedule.ts";

export interface InjectionContext {
  readonly matrixSystem: MatrixSystem;
  readonly interrupted: InterruptedDeliveries;
  /** Aborts after the work, when no process can reach an armed fault point any more. */
  readonly workEnded: AbortSignal;
}

type FaultOf<K extends Fault["kind"]> = Extract<Fault, { kind: K }>;

interface SandboxFaults {
  readonly faults: readonly { readonly operation: string; readonly times: number }[];
}

/** Time that services need to reconnect to a database. Attempt results may be lost in this time. */
const reconnectingMs = 1_000;
const pollMs = 200;

/** Injects a fault and removes it. Returns true if the fault affected a process. */
export async function injectFault(context: InjectionContext, fault: Fault): Promise<boolean> {
  const { matrixSystem } = context;
  switch (fault.kind) {
    case "kill":
      return await kill(context, fault);
    case "freeze":
      return await freeze(context, fault);
    case "point":
      return await stopAtPoint(context, fault);
    case "cut":
      return await cutConnections(context, fault);
    case "postgres":
      return await stopPostgres(context, fault);
    case "kafka":
      await matrixSystem.kafka.kill();
      await sleep(fault.forMs);
      await matrixSystem.kafka.start();
      return true;
    case "answers": {
      const { operation, mode, times } = fault;
      await callSandbox(matrixSystem.system, "PUT", "/sandbox/faults", { operation, mode, times });
      await waitForEndOfWork(context);
      const { faults } = (await callSandbox(matrixSystem.system, "GET", "/sandbox/faults")) as SandboxFaults;
      return !faults.some((fault) => fault.operation === operation && fault.times === times);
    }
    case "way":
      matrixSystem.proxy.plan("any", fault.trouble);
      await waitForEndOfWork(context);
      return !matrixSystem.proxy.clear();
  }
}

const waitForEndOfWork = ({ workEnded }: InjectionContext) =>
  new Promise<void>((resolve) => {
    if (workEnded.aborted) resolve();
    else workEnded.addEventListener("abort", () => resolve(), { once: true });
  });

async function kill(
  { matrixSystem, interrupted }: InjectionContext,
  { service, replica: index, forMs }: FaultOf<"kill" | "freeze">,
) {
  const replica = matrixSystem.replicas[service][index] as Replica;
  return await matrixSystem.locks.with(replica, async () => {
    await interrupted.recordDuring(async (recordLeases) => {
      await replica.kill();
      if (service === "webhooks") await recordLeases();
    });
    await restartReplica({ matrixSystem, interrupted }, replica, forMs);
    return true;
  });
}

async function freeze({ matrixSystem }: InjectionContext, { service, replica: index, forMs }: FaultOf<"kill" | "freeze">) {
  const replica = matrixSystem.replicas[service][index] as Replica;
  return await matrixSystem.locks.with(replica, async () => {
    const pid = replica.pid();
    if (pid === undefined) return false;
    await freezeProcess(pid, forMs);
    return true;
  });
}

async function freezeProcess(pid: number, forMs: number): Promise<void> {
  try {
    process.kill(pid, "SIGSTOP");
    await sleep(forMs);
    process.kill(pid, "SIGCONT");
  } catch {
    // The process does not exist any more, because another fault ended it in the meantime.
  }
}

/** Arms a fault point and waits for a process. Returns false if no process reaches the point. */
async function stopAtPoint(context: InjectionContext, { service, point, signal, forMs }: FaultOf<"point">): Promise<boolean> {
  const { matrixSystem, interrupted, workEnded } = context;
  const file = matrixSystem.pointFile(service);
  await writeFile(`${file}.new`, `${point} ${signal}`);
  // All replicas may read the file at any moment. The rename is atomic, so that no replica reads an
  // incomplete file.
  await rename(`${file}.new`, file);
  while (existsSync(file) && !workEnded.aborted) await sleep(20);
  await rm(file, { force: true });
  const claimedFile = (await readdir(dirname(file))).find((name) => name.startsWith(`${basename(file)}.`) && /\.\d+$/.test(name));
  if (!claimedFile) return false;
  await rm(join(dirname(file), claimedFile));
  const pid = Number(claimedFile.split(".").at(-1));
  if (signal === "SIGSTOP") {
    // The process has renamed the file and stops next. On a busy machine this takes some time.
    await sleep(50);
    await freezeProcess(pid, forMs);
    return true;
  }
  const replicas = matrixSystem.replicas[service];
  // A replica whose process has already exited has no pid.
  const replica =
    replicas.find((candidate) => candidate.pid() === pid) ?? replicas.find((candidate) => candidate.pid() === undefined);
  if (!replica) {
    // Another fault of the schedule has already restarted the replica.
    matrixSystem.crashes.explain(service);
    return true;
  }
  await matrixSystem.locks.with(replica, async () => {
    await interrupted.recordDuring(async (recordLeases) => {
      // The process kills itself at the fault point. This call only waits for its exit.
      await replica.kill();
      if (service === "webhooks") await recordLeases();
    });
    matrixSystem.crashes.explain(service);
    await restartReplica(context, replica, forMs);
  });
  return true;
}

async function restartReplica(
  { matrixSystem, interrupted }: Pick<InjectionContext, "matrixSystem" | "interrupted">,
  replica: Replica,
  forMs: number,
) {
  await sleep(forMs);
  if (replica.name === "webhooks") await interrupted.endLeases().catch(() => {});
  // The replica cannot start while its database is down. `restoreAll` starts it later.
  await replica.restart().catch(() => matrixSystem.crashes.explain(replica.name));
}

async function cutConnections({ matrixSystem, interrupted }: InjectionContext, { service }: FaultOf<"cut">): Promise<boolean> {
  return await interrupted.recordDuring(async (recordLeases) => {
    const result = await matrixSystem.databases.postgres
      .query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name <> $2", [
        `amana_${service}`,
        applicationName,
      ])
      // The query fails if another fault of the schedule has stopped PostgreSQL. In this case, no
      // connection exists.
      .catch(() => undefined);
    if (service === "webhooks") await recordLeasesWhileReconnecting(recordLeases);
    return (result?.rowCount ?? 0) > 0;
  });
}

/** Stops PostgreSQL with SIGQUIT, as `pg_ctl stop -m immediate` does, and starts it again. */
async function stopPostgres(
  { matrixSystem, interrupted }: InjectionContext,
  { forMs }: FaultOf<"postgres" | "kafka">,
): Promise<boolean> {
  await interrupted.recordDuring(async (recordLeases) => {
    await matrixSystem.postgres.kill();
    await sleep(forMs);
    await matrixSystem.postgres.start();
    await recordLeasesWhileReconnecting(recordLeases);
  });
  return true;
}

async function recordLeasesWhileReconnecting(recordLeases: () => Promise<void>): Promise<void> {
  const endsAtMs = performance.now() + reconnectingMs;
  do {
    await recordLeases();
    await sleep(pollMs);
  } while (performance.now() < endsAtMs);
}
