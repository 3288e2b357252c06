import { nextPause } from "@amana/runtime";

/** So many different messages that fail in a row are no coincidence. */
const failuresMax = 3;
/** So many messages may be tried after one pause: enough to get past many bad ones. */
const triesMax = 128;

/**
 * Whether a consumer takes new messages. When different messages fail one after the other, the
 * fault is ours and not theirs: it stops, and tries one message after a pause, then two, four and
 * so on after growing pauses, until one succeeds. So a row of bad messages, however long, does not
 * hold up those behind it for long. Of one topic in one process.
 */
export function createCircuit(pausesMs: readonly number[], nowMs: () => number = () => performance.now()) {
  let failures = 0;
  let probes = 0;
  let triesLeft = 0;
  let probeAtMs = 0;
  let succeededAtMs = Number.NEGATIVE_INFINITY;

  return {
    isStopped: () => failures >= failuresMax,
    /** Whether a message may be tried; while stopped, a few after each pause. */
    mayTry(): boolean {
      if (failures < failuresMax) return true;
      if (triesLeft === 0) {
        if (nowMs() < probeAtMs) return false;
        triesLeft = Math.min(2 ** probes, triesMax);
        probes++;
        probeAtMs = nowMs() + nextPause(pausesMs, probes);
      }
      triesLeft--;
      return true;
    },
    /** What was tried told nothing: it had been seen before. Another may be tried in its place. */
    learntNothing(): void {
      triesLeft++;
    },
    /** Answers whether this ended a stop. */
    succeeded(): boolean {
      const wasStopped = failures >= failuresMax;
      succeededAtMs = nowMs();
      failures = 0;
      return wasStopped;
    },
    /** A message failed that had not failed before. Answers whether this begins a stop. */
    failed(): boolean {
      failures++;
      if (failures !== failuresMax) return false;
      probes = 0;
      triesLeft = 0;
      probeAtMs = nowMs() + nextPause(pausesMs, probes);
      return true;
    },
    hasSucceededWithin: (ms: number): boolean => nowMs() - succeededAtMs < ms,
  };
}

export type Circuit = ReturnType<typeof createCircuit>;
