import { sleep } from "@amana/runtime";

const pollMsMin = 5;
const pollMsMax = 100;

/**
 * Calls `probe` repeatedly until it does not throw, and returns its result. Use it for a state
 * that another process reaches later. Throws the last error after `timeoutMs`.
 */
export async function eventually<T>(probe: () => Promise<T> | T, timeoutMs = 90_000): Promise<T> {
  const endsAtMs = performance.now() + timeoutMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(250, pauseMs * 1.5)) {
    try {
      return await probe();
    } catch (error) {
      if (performance.now() > endsAtMs) throw error;
      await sleep(pauseMs);
    }
  }
}

/**
 * Calls `condition` repeatedly until it returns true. Returns false after `timeoutMs`. The pauses
 * between the calls become longer, because many waits of tests take seconds.
 */
export async function waitUntil(condition: () => Promise<boolean> | boolean, timeoutMs: number): Promise<boolean> {
  const endsAtMs = performance.now() + timeoutMs;
  for (let pauseMs = pollMsMin; !(await condition()); pauseMs = Math.min(pollMsMax, pauseMs * 1.5)) {
    if (performance.now() > endsAtMs) return false;
    await sleep(pauseMs);
  }
  return true;
}
