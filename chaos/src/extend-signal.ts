/** Limits of the duration of an attack. The time in which the system starts is not included. */
const attackMsMin = 8_000;
const attackMsMax = 180_000;

/**
 * Returns a signal that aborts when `signal` has aborted, `attackMsMin` have passed, and
 * `hasEnoughWork` returns true. After `attackMsMax`, the signal no longer waits for
 * `hasEnoughWork`.
 */
export function extendSignal(signal: AbortSignal, hasEnoughWork: () => boolean): AbortSignal {
  const combined = new AbortController();
  const startedMs = performance.now();
  const watch = setInterval(() => {
    const attackMs = performance.now() - startedMs;
    if (!signal.aborted || attackMs < attackMsMin || !(hasEnoughWork() || attackMs > attackMsMax)) return;
    clearInterval(watch);
    combined.abort();
  }, 100);
  return combined.signal;
}
