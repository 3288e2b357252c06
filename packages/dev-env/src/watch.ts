import { watch } from "node:fs";
import { join } from "node:path";
import { inStep, type Progress } from "./progress.ts";
import type { ServiceName } from "./services.ts";
import type { System } from "./system.ts";

/** Changes within this time cause one restart, because editors write a file in several steps. */
const settleMs = 200;

/** Restarts a service when one of its files changes, and all services when a package changes. */
export function restartOnChange(root: string, system: System, progress: Progress): Disposable {
  const names = Object.keys(system.services) as ServiceName[];
  const changedServices = new Set<ServiceName>();
  let timer: NodeJS.Timeout | undefined;
  let restarting = Promise.resolve();

  const restart = async () => {
    const due = [...changedServices];
    changedServices.clear();
    await inStep(progress, `Restarting ${due.join(", ")}`, async (step) => {
      await Promise.all(
        due.map(async (name) => {
          await system.services[name].stop();
          await system.services[name].start();
        }),
      );
      await system.waitUntilReady();
      step.done("ready");
    }).catch(() => {});
  };

  const scheduleRestart = (affected: readonly ServiceName[], file: string | null) => {
    if (!file?.endsWith(".ts") || file.endsWith(".test.ts") || file.includes("node_modules")) return;
    for (const name of affected) changedServices.add(name);
    clearTimeout(timer);
    timer = setTimeout(() => {
      restarting = restarting.then(restart);
    }, settleMs);
  };

  const watchers = [
    ...names.map((name) =>
      watch(join(root, "services", name, "src"), { recursive: true }, (_event, file) => scheduleRestart([name], file)),
    ),
    watch(join(root, "packages"), { recursive: true }, (_event, file) => scheduleRestart(names, file)),
  ];
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
