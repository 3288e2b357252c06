/** Returns a function that returns the rest of the time, in milliseconds. */
export function startBudget(timeoutMs: number): () => number {
  const startedMs = performance.now();
  return () => timeoutMs - (performance.now() - startedMs);
}
