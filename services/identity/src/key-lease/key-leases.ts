/** The shortest grace a rotated key can be given is a second; a lease must not outlast it. */
export const leaseMsMax = 1_000;

/** For timers that fire a little early and clocks that do not run at quite the same speed. */
const marginMs = 50;
/** More than a transaction may take and clocks may differ. */
const recentMs = 60_000;

/** How long gateways may believe a resolved key, and what revocation therefore has to wait for. */
export interface KeyLeases {
  /** 0: an answer is for one request only. */
  readonly leaseMs: number;
  /**
   * Call it after the commit that took access away at `at`, before answering: resolves once no lease that was granted
   * before the commit can still run. So whoever reads the answer finds the access gone everywhere. An answer that only
   * repeats what another call has just committed must wait, too; what is long past needs no wait.
   */
  endedAfter(at: Date): Promise<void>;
}

export function createKeyLeases(options: {
  leaseMs: number;
  clock: { now(): Date };
  wait: (ms: number) => Promise<void>;
}): KeyLeases {
  const { leaseMs, clock, wait } = options;
  return {
    leaseMs,
    async endedAfter(at) {
      if (leaseMs === 0 || clock.now().getTime() - at.getTime() > recentMs) return;
      await wait(leaseMs + marginMs);
    },
  };
}
