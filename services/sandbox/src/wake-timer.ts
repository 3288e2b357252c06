const sleepMsMax = 3_600_000;

/**
 * Runs `work` soon after each `wake`, and again after the number of milliseconds that `work`
 * returned.
 */
export function createWakeTimer(work: () => number | undefined) {
  let soon: NodeJS.Immediate | undefined;
  let later: NodeJS.Timeout | undefined;
  let stopped = false;
  const run = () => {
    // Both timers may expire together. Clears both, so that `work` runs once.
    clearImmediate(soon);
    soon = undefined;
    clearTimeout(later);
    const inMs = work();
    if (inMs !== undefined) later = setTimeout(run, Math.min(Math.max(inMs, 0), sleepMsMax)).unref();
  };
  return {
    wake() {
      if (!stopped) soon ??= setImmediate(run);
    },
    stop() {
      stopped = true;
      clearImmediate(soon);
      clearTimeout(later);
    },
  };
}
