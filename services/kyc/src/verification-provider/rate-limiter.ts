import { sleep } from "@amana/runtime";

/** After a quiet period, as many calls can be made at once as the rate permits in this time. */
const burstSeconds = 5;
const pauseSecondsDefault = 30;
const pauseSecondsMax = 60;

/**
 * Limits the rate of calls (generic cell rate algorithm of ITU-T I.371), and pauses all calls after
 * a 429. `perMinute` is the limit that the vendor documents, in calls per minute. The vendor counts
 * calls in windows of `windowSeconds`. Each replica uses a quarter of the limit, so that four
 * replicas do not exceed it.
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
  return {
    /**
     * Waits until the rate permits a call. Returns false immediately if that would take longer than
     * `timeoutMs`.
     */
    async take(timeoutMs: number): Promise<boolean> {
      const untilMs = performance.now() + timeoutMs;
      do {
        const nowMs = performance.now();
        const windowEndMs = turnsMs.length < windowCallsMax ? nowMs : (turnsMs[0] ?? nowMs) + windowMs;
        const turnMs = Math.max(theoreticalMs - burstMs, pausedUntilMs, windowEndMs, nowMs);
        if (turnMs >= untilMs) return false;
        theoreticalMs = Math.max(theoreticalMs, turnMs) + intervalMs;
        turnsMs.push(turnMs);
        if (turnsMs.length > windowCallsMax) turnsMs.shift();
        if (turnMs > nowMs) await sleep(turnMs - nowMs);
        // During the wait, another call may have received a 429, which begins a pause.
      } while (pausedUntilMs > performance.now());
      return true;
    },
    /** Pauses all calls after a 429. */
    pause(retryAfterSeconds: number | undefined): void {
      const seconds = Math.min(retryAfterSeconds ?? pauseSecondsDefault, pauseSecondsMax);
      pausedUntilMs = Math.max(pausedUntilMs, performance.now() + seconds * 1_000);
    },
  };
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;
