import { waitAtMost } from "@amana/runtime";

/**
 * Returns a function that runs `work` for one id at a time in this process. Calls that arrive
 * during a run share the next run, so each call is served by a run that started after the call. A
 * thousand concurrent calls cause two runs. `remainingMs` is the time for which a caller waits. A
 * shared run gets the time of its last caller. The function returns the result of the run, or
 * undefined when the caller's time is over.
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
      const next = { hasStarted: false, remainingMs, completion: undefined as unknown as Promise<T> };
      next.completion = (async () => {
        await previous?.completion.catch(() => {});
        next.hasStarted = true;
        try {
          return await work(next.remainingMs);
        } finally {
          if (runs.get(id) === next) runs.delete(id);
        }
      })();
      // Prevents an unhandled rejection, which would end the process, if the run fails when no
      // caller waits.
      next.completion.catch(() => {});
      runs.set(id, next);
      run = next;
    }
    return await waitAtMost(remainingMs(), run.completion);
  };
}
