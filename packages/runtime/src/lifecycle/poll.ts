import { allTenants, forTenant } from "../concurrency/tenant.ts";
import { sleep } from "../concurrency/time.ts";
import type { Logger } from "../observability/logger.ts";
import { counter } from "../observability/metrics.ts";

const failures = counter({
  name: "amana_task_failures_total",
  help: "Rounds of background tasks that failed; the next one tries again",
  labels: { task: "the tasks" },
});

/**
 * Runs `work` again and again until disposed: at once after a round that found something, else
 * after a pause. `work` answers how much it found; a round that throws is logged under `name` and
 * the next one tries again. It is done for all tenants. Disposing waits for the round that runs.
 */
export function poll(name: string, logger: Logger, work: () => Promise<number>, pauseMs = 1_000): AsyncDisposable {
  const stop = new AbortController();
  failures.inc({ task: name }, 0);
  const run = async () => {
    while (!stop.signal.aborted) {
      let found = 0;
      try {
        found = await work();
      } catch (error) {
        failures.inc({ task: name });
        logger.warn({ err: error, job: name }, "a round failed; the next one tries again");
      }
      if (found === 0) await sleep(pauseMs, stop.signal);
    }
  };
  const running = forTenant(allTenants, run);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/**
 * Does each batch again and again, from the start on and once an hour, at once as long as it found
 * something. In logs a batch has the name that it is given here.
 */
export const startHourlyJobs = <Context extends { readonly logger: Logger }>(
  context: Context,
  batches: Readonly<Record<string, (context: Context) => Promise<number>>>,
): AsyncDisposable[] =>
  Object.entries(batches).map(([name, batch]) => poll(name, context.logger, () => batch(context), 60 * 60 * 1000));
