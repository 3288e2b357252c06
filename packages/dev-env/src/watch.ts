import { watch } from "node:fs";
import { join } from "node:path";
import { inStep, type Progress } from "./progress.ts";
import type { ServiceName } from "./services.ts";
import type { System } from "./system.ts";

/** Editors write a file in several steps; one restart covers what changes within this time. */
const settleMs = 200;

/** Restarts a service when a file of its own changes, and all of them when a package does. */
export function restartOnChange(root: string, system: System, progress: Progress): Disposable {
  const names = Object.keys(system.services) as ServiceName[];
  const changed = new Set<ServiceName>();
  let timer: NodeJS.Timeout | undefined;
  let restarting = Promise.resolve();

  const restart = async () => {
    const due = [...changed];
    changed.clear();
    await inStep(progress, `Restarting ${due.join(", ")}`, async (step) => {
      await Promise.all(
        due.map(async (name) => {
          await system.services[name].stop();
          await system.services[name].start();
        }),
      );
      await system.ready();
      step.done("ready");
    }).catch(() => {});
  };

  const note = (affected: readonly ServiceName[], file: string | null) => {
    if (!file?.endsWith(".ts") || file.endsWith(".test.ts") || file.includes("node_modules")) return;
    for (const name of affected) changed.add(name);
    clearTimeout(timer);
    timer = setTimeout(() => {
      restarting = restarting.then(restart);
    }, settleMs);
  };

  const watchers = [
    ...names.map((name) => watch(join(root, "services", name, "src"), { recursive: true }, (_event, file) => note([name], file))),
    watch(join(root, "packages"), { recursive: true }, (_event, file) => note(names, file)),
  ];
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
