import { currentTenant, FairSemaphore, sleep } from "@amana/runtime";

/**
 * Size of a burst. After a period without calls, the calls that the rate permits in this number of
 * seconds can be made at once.
 */
const burstSeconds = 5;
const pauseMsDefault = 30_000;
const pauseMsMax = 60_000;

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/**
 * Creates a limiter for the rate of calls to a vendor (generic cell rate algorithm of ITU-T I.371).
 * After a response with status 429, it pauses all calls. `perMinute` is the vendor's documented
 * limit in calls per minute. The vendor counts calls in windows of `windowSeconds`. Each replica
 * uses a quarter of the limit, so that four replicas together do not exceed the limit. Waiting
 * calls get turns by business, so that many calls of one business do not delay those of other
 * businesses.
 */
export function createRateLimiter(perMinute: number, windowSeconds = 60) {
  const windowMs = windowSeconds * 1_000;
  /** Maximum number of calls in one window, including a burst. */
  const windowCallsMax = Math.max(1, Math.floor((perMinute / 4 / 60) * windowSeconds));
  const turnsMs: number[] = [];
  const intervalMs = 60_000 / (perMinute / 4);
  const burstMs = Math.max(burstSeconds * 1_000, 2 * intervalMs);
  let theoreticalMs = 0;
  let pausedUntilMs = 0;
  /** The call with the slot waits until the rate permits it. Other calls wait for the slot. */
  const queue = new FairSemaphore({ slots: 1, perTenant: 1 });

  const waitForTurn = async (untilMs: number): Promise<boolean> => {
    do {
      const nowMs = performance.now();
      const windowEndMs = turnsMs.length < windowCallsMax ? nowMs : (turnsMs[0] ?? nowMs) + windowMs;
      const turnMs = Math.max(theoreticalMs - burstMs, pausedUntilMs, windowEndMs, nowMs);
      if (turnMs >= untilMs) return false;
      theoreticalMs = Math.max(theoreticalMs, turnMs) + intervalMs;
      turnsMs.push(turnMs);
      if (turnsMs.length > windowCallsMax) turnsMs.shift();
      if (turnMs > nowMs) await sleep(turnMs - nowMs);
      // Waits again if a pause has begun, because another call may have received status 429 during
      // the wait.
    } while (pausedUntilMs > performance.now());
    return true;
  };
  return {
    /**
     * Waits until the rate permits a call, and returns true. Returns false after `timeoutMs`, or
     * earlier if the rate permits the call only later.
     */
    async take(timeoutMs: number): Promise<boolean> {
      const untilMs = performance.now() + timeoutMs;
      const tenant = currentTenant() ?? "";
      const entered = queue.acquire(tenant, timeoutMs);
      if (entered !== true && !(await entered)) return false;
      try {
        return await waitForTurn(untilMs);
      } finally {
        queue.release(tenant);
      }
    },
    /** Pauses all calls after a response with status 429. */
    pause(retryAfterMs = pauseMsDefault): void {
      pausedUntilMs = Math.max(pausedUntilMs, performance.now() + Math.min(retryAfterMs, pauseMsMax));
    },
  };
}
