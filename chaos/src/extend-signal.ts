/** Minimum and maximum duration of an attack, independent of the duration of the start. */
const attackMsMin = 8_000;
const attackMsMax = 90_000;

/**
 * Returns a signal that aborts when `signal` has aborted, the attack has lasted `attackMsMin`, and
 * enough work is done. After `attackMsMax`, it no longer waits for the work.
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
