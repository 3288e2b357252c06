/** Starts a time budget. Returns a function that returns the remaining milliseconds. */
export function startTimeBudget(timeoutMs: number): () => number {
  const startedMs = performance.now();
  return () => timeoutMs - (performance.now() - startedMs);
}
