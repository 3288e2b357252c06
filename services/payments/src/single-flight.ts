import { waitAtMost } from "@amana/runtime";

/**
 * Returns a function that runs `work` for one id at a time in this process. Calls that arrive
 * during a run share the next run, so each call is served by a run that started after the call. A
 * thousand concurrent calls cause two runs. `remainingMs` returns the time for which its caller
 * still waits. A shared run uses the `remainingMs` of the last caller. The returned function
 * returns the run's result, or undefined when the caller's time is over.
 */
export function createSingleFlight<T>() {
  const runs = new Map<string, { hasStarted: boolean; remainingMs: () => number; completion: Promise<T> }>();

  return async (
    id: string,
    remainingMs: () => number,
    work: (remainingMs: () => number) => Promise<T>,
  ): Promise<T | undefined> => {
    const previous = runs.get(id);
    let run = previous;
    if (run && !run.hasStarted) run.remainingMs = remainingMs;
    else {
      const nextRun = { hasStarted: false, remainingMs, completion: undefined as unknown as Promise<T> };
      nextRun.completion = (async () => {
        await previous?.completion.catch(() => {});
        nextRun.hasStarted = true;
        try {
          return await work(nextRun.remainingMs);
        } finally {
          if (runs.get(id) === nextRun) runs.delete(id);
        }
      })();
      // If the run fails while no caller waits, the rejection would otherwise be unhandled and end
      // the process.
      nextRun.completion.catch(() => {});
      runs.set(id, nextRun);
      run = nextRun;
    }
    return await waitAtMost(remainingMs(), run.completion);
  };
}
