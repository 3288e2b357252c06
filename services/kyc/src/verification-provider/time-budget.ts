/** Returns the milliseconds that remain of a time budget; 0 after its end. */
export type RemainingMs = () => number;

/** Starts a time budget. */
export function startTimeBudget(timeoutMs: number): RemainingMs {
  const startedMs = performance.now();
  return () => Math.max(0, timeoutMs - (performance.now() - startedMs));
}
