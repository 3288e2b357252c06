import { sleep } from "@amana/runtime";

/** Burst of a pace, in seconds of its rate. */
const burstSeconds = 5;
const pauseSecondsDefault = 30;
const pauseSecondsMax = 60;

/**
 * Limits the calls of one class to a rate (the generic cell rate algorithm of ITU-T I.371), and
 * pauses them after a 429. `perMinute`: the vendor's documented limit. A replica uses a quarter of
 * it, so that four replicas and other clients of the account do not exceed it.
 */
export function createPace(perMinute: number) {
  const intervalMs = 60_000 / (perMinute / 4);
  const burstMs = Math.max(burstSeconds * 1_000, 2 * intervalMs);
  let theoreticalMs = 0;
  let pausedUntilMs = 0;
  return {
    /** Waits for the next call's turn. Returns false at once if that is not within `timeoutMs`. */
    async take(timeoutMs: number): Promise<boolean> {
      const nowMs = performance.now();
      const turnMs = Math.max(theoreticalMs - burstMs, pausedUntilMs, nowMs);
      if (turnMs - nowMs >= timeoutMs) return false;
      theoreticalMs = Math.max(theoreticalMs, turnMs) + intervalMs;
      if (turnMs > nowMs) await sleep(turnMs - nowMs);
      return true;
    },
    /** Pauses all calls after a 429. */
    pause(retryAfterSeconds: number | undefined): void {
      const seconds = Math.min(retryAfterSeconds ?? pauseSecondsDefault, pauseSecondsMax);
      pausedUntilMs = Math.max(pausedUntilMs, performance.now() + seconds * 1_000);
    },
  };
}

export type Pace = ReturnType<typeof createPace>;
