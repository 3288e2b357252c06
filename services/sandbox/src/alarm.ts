const sleepMsMax = 3_600_000;

/**
 * Does work that has moments of its own: soon after each `wake`, and when as many milliseconds have
 * gone by as the work answered.
 */
export function createAlarm(work: () => number | undefined) {
  let soon: NodeJS.Immediate | undefined;
  let later: NodeJS.Timeout | undefined;
  let stopped = false;
  const run = () => {
    // Both may have come due together, and `stop` must find the one that is still to run.
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
