import { sleep } from "@amana/runtime";

/** Burst of a pace, in seconds of its rate. */
const burstSeconds = 5;
const pauseSecondsDefault = 30;
const pauseSecondsMax = 60;

/**
 * Limits the calls of one class to a rate (the generic cell rate algorithm of ITU-T I.371), and
 * pauses them after a 429. `perMinute`: the vendor's documented limit, which applies to each
 * `windowSeconds`. A replica uses a quarter of it, so that four replicas do not exceed it.
 */
export function createPace(perMinute: number, windowSeconds = 60) {
  const windowMs = windowSeconds * 1_000;
  /** A burst and the calls after it must not exceed the quarter of one window. */
  const windowCallsMax = Math.max(1, Math.floor((perMinute / 4 / 60) * windowSeconds));
  const turnsMs: number[] = [];
  const intervalMs = 60_000 / (perMinute / 4);
  const burstMs = Math.max(burstSeconds * 1_000, 2 * intervalMs);
  let theoreticalMs = 0;
  let pausedUntilMs = 0;
  return {
    /** Waits for the next call's turn. Returns false at once if that is not within `timeoutMs`. */
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
        // A 429 of another call can have begun a pause during the wait.
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

export type Pace = ReturnType<typeof createPace>;
