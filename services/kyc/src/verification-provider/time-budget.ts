/** Returns the milliseconds that remain of a time budget. */
export type RemainingMs = () => number;

/** Starts a time budget. */
export function startTimeBudget(timeoutMs: number): RemainingMs {
  const startedMs = performance.now();
  return () => timeoutMs - (performance.now() - startedMs);
}
