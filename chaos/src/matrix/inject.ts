import { existsSync } from "node:fs";
import { readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { sandbox } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Interrupted } from "../events/interrupted.ts";
import type { Replica } from "../rolling/replicas.ts";
import type { Fault } from "./schedule.ts";
import { applicationName, type Stage } from "./stage.ts";

export interface Injecting {
  readonly stage: Stage;
  readonly interrupted: Interrupted;
  /** Goes off when nothing more can come to a point that is armed. */
  readonly over: AbortSignal;
}

type FaultOf<K extends Fault["kind"]> = Extract<Fault, { kind: K }>;

interface Planted {
  readonly faults: readonly { readonly operation: string; readonly times: number }[];
}

/** So long its clients need to notice that a database is back; some POSTs are not recorded. */
const reconnectingMs = 1_000;
const lookMs = 200;

/** Lets the fault happen and mends it. Answers whether it was met: it may wait for nobody. */
export async function inject(injecting: Injecting, fault: Fault): Promise<boolean> {
  const { stage } = injecting;
  switch (fault.kind) {
    case "kill":
      return await kill(injecting, fault);
    case "freeze":
      return await freeze(injecting, fault);
    case "point":
      return await stopAtPoint(injecting, fault);
    case "cut":
      return await cut(injecting, fault);
    case "postgres":
      return await stopPostgres(injecting, fault);
    case "kafka":
      await stage.kafka.kill();
      await sleep(fault.forMs);
      await stage.kafka.start();
      return true;
    case "answers": {
      const { operation, mode, times } = fault;
      await sandbox(stage.system, "PUT", "/sandbox/faults", { operation, mode, times });
      await untilOver(injecting);
      const { faults } = (await sandbox(stage.system, "GET", "/sandbox/faults")) as Planted;
      return !faults.some((one) => one.operation === operation && one.times === times);
    }
    case "way":
      stage.proxy.plan("any", fault.trouble);
      await untilOver(injecting);
      return !stage.proxy.forget();
  }
}

const untilOver = ({ over }: Injecting) =>
  new Promise<void>((resolve) => {
    if (over.aborted) resolve();
    else over.addEventListener("abort", () => resolve(), { once: true });
  });

async function kill({ stage, interrupted }: Injecting, { service, replica: index, forMs }: FaultOf<"kill" | "freeze">) {
  const replica = stage.replicas[service][index] as Replica;
  return await stage.locks.with(replica, async () => {
    await interrupted.by(async (look) => {
      await replica.kill();
      if (service === "webhooks") await look();
    });
    await bringBack({ stage, interrupted }, replica, forMs);
    return true;
  });
}

async function freeze({ stage }: Injecting, { service, replica: index, forMs }: FaultOf<"kill" | "freeze">) {
  const replica = stage.replicas[service][index] as Replica;
  return await stage.locks.with(replica, async () => {
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
    // Another fault has ended it meanwhile.
  }
}

/** Arms the point and waits for who comes there; nobody may. */
async function stopAtPoint(injecting: Injecting, { service, point, signal, forMs }: FaultOf<"point">): Promise<boolean> {
  const { stage, interrupted, over } = injecting;
  const file = stage.pointFile(service);
  await writeFile(`${file}.new`, `${point} ${signal}`);
  // Read by all replicas at any moment, so it comes whole.
  await rename(`${file}.new`, file);
  while (existsSync(file) && !over.aborted) await sleep(20);
  await rm(file, { force: true });
  const taken = (await readdir(dirname(file))).find((name) => name.startsWith(`${basename(file)}.`) && /\.\d+$/.test(name));
  if (!taken) return false;
  await rm(join(dirname(file), taken));
  const pid = Number(taken.split(".").at(-1));
  if (signal === "SIGSTOP") {
    // A loaded machine may take a moment to stop it.
    await sleep(50);
    await freezeProcess(pid, forMs);
    return true;
  }
  const replicas = stage.replicas[service];
  // One that has ended already has no number any more.
  const replica = replicas.find((one) => one.pid() === pid) ?? replicas.find((one) => one.pid() === undefined);
  if (!replica) {
    // Another fault of the schedule was faster, and has put a new process in its place.
    stage.crashes.excuse(service);
    return true;
  }
  await stage.locks.with(replica, async () => {
    await interrupted.by(async (look) => {
      // It dies by itself; this waits for its end.
      await replica.kill();
      if (service === "webhooks") await look();
    });
    stage.crashes.excuse(service);
    await bringBack(injecting, replica, forMs);
  });
  return true;
}

async function bringBack({ stage, interrupted }: Pick<Injecting, "stage" | "interrupted">, replica: Replica, forMs: number) {
  await sleep(forMs);
  if (replica.name === "webhooks") await interrupted.endLeases().catch(() => {});
  // It may not start while its database is away; then it is started with the rest in the end.
  await replica.restart().catch(() => stage.crashes.excuse(replica.name));
}

async function cut({ stage, interrupted }: Injecting, { service }: FaultOf<"cut">): Promise<boolean> {
  return await interrupted.by(async (look) => {
    const { rowCount } = await stage.databases.postgres.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name <> $2",
      [`amana_${service}`, applicationName],
    );
    if (service === "webhooks") await keepLooking(look);
    return (rowCount ?? 0) > 0;
  });
}

/** SIGQUIT, which is what `pg_ctl stop -m immediate` sends. */
async function stopPostgres({ stage, interrupted }: Injecting, { forMs }: FaultOf<"postgres" | "kafka">): Promise<boolean> {
  await interrupted.by(async (look) => {
    await stage.postgres.kill();
    await sleep(forMs);
    await stage.postgres.start();
    await keepLooking(look);
  });
  return true;
}

async function keepLooking(look: () => Promise<void>): Promise<void> {
  const endsAtMs = performance.now() + reconnectingMs;
  do {
    await look();
    await sleep(lookMs);
  } while (performance.now() < endsAtMs);
}
