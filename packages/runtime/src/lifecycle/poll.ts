import { inOperation } from "../concurrency/operation.ts";
import { allTenants, forTenant } from "../concurrency/tenant.ts";
import { sleep } from "../concurrency/time.ts";
import type { Logger } from "../observability/logger.ts";
import { counter } from "../observability/metrics.ts";

const failures = counter({
  name: "amana_task_failures_total",
  help: "Failed runs of background tasks; each task runs again after a pause",
  labels: { task: "the background tasks" },
});

/**
 * Runs `work` repeatedly until disposed, for all tenants. `work` returns the number of processed
 * items. If the number is not 0, the next run starts at once. Otherwise it starts after `pause`: a
 * time in ms, or a function that resolves when the pause ends. A run that throws is logged with
 * `name` and repeated after a pause. Disposing waits for the current run, and for the function
 * `pause`.
 */
export function poll(
  name: string,
  logger: Logger,
  work: () => Promise<number>,
  pause: number | (() => Promise<unknown>) = 1_000,
): AsyncDisposable {
  const stop = new AbortController();
  failures.inc({ task: name }, 0);
  const run = async () => {
    while (!stop.signal.aborted) {
      let processed = 0;
      try {
        processed = await work();
      } catch (error) {
        failures.inc({ task: name });
        logger.warn({ err: error, job: name }, "task failed, retry scheduled");
      }
      if (processed !== 0 || stop.signal.aborted) continue;
      await (typeof pause === "number" ? sleep(pause, stop.signal) : pause());
    }
  };
  const running = forTenant(allTenants, () => inOperation(name, run));
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/**
 * Runs each job at start and then once an hour. A job that returns a number of processed items
 * above 0 runs again at once. The keys of `jobs` are the names of the jobs in logs and metrics.
 */
export const startHourlyJobs = <Context extends { readonly logger: Logger }>(
  context: Context,
  jobs: Readonly<Record<string, (context: Context) => Promise<number>>>,
): AsyncDisposable[] => Object.entries(jobs).map(([name, job]) => poll(name, context.logger, () => job(context), 60 * 60 * 1000));
