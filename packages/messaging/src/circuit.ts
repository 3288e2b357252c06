/** So many different messages that fail, with none between them that succeeds, are no coincidence. */
const failuresMax = 3;

/**
 * Whether a consumer takes new messages. When different messages fail one after the other, the fault is ours and not theirs:
 * it stops, and tries one message at a time after growing pauses, until one succeeds. Of one topic in one process.
 */
export function createCircuit(pausesMs: readonly number[], nowMs: () => number = () => performance.now()) {
  let failures = 0;
  let probes = 0;
  let probeAtMs = 0;
  let succeededAtMs = Number.NEGATIVE_INFINITY;
  const pauseMs = () => pausesMs[Math.min(probes, pausesMs.length - 1)] ?? 0;

  return {
    isStopped: () => failures >= failuresMax,
    /** Whether a message may be tried; while stopped, one of those who ask, each time a pause is over. */
    mayTry(): boolean {
      if (failures < failuresMax) return true;
      if (nowMs() < probeAtMs) return false;
      probes++;
      probeAtMs = nowMs() + pauseMs();
      return true;
    },
    /** What was tried told nothing: it had been seen before. */
    learntNothing(): void {
      probeAtMs = 0;
    },
    /** Answers whether this ended a stop. */
    succeeded(): boolean {
      const wasStopped = failures >= failuresMax;
      succeededAtMs = nowMs();
      failures = 0;
      probes = 0;
      return wasStopped;
    },
    /** A message failed that had not failed before. Answers whether this begins a stop. */
    failed(): boolean {
      failures++;
      if (failures === failuresMax) probeAtMs = nowMs() + pauseMs();
      return failures === failuresMax;
    },
    hasSucceededWithin: (ms: number): boolean => nowMs() - succeededAtMs < ms,
  };
}

export type Circuit = ReturnType<typeof createCircuit>;
