import { setTimeout as delay } from "node:timers/promises";

/** Waits; ends early, without an error, when the signal aborts. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    if ((error as Error).name !== "AbortError") throw error;
  }
}

/** A length of time spread evenly by ± `fraction`, so that many retries do not fall on one instant. */
export function jitter(ms: number, fraction = 0.2, random: () => number = Math.random): number {
  return Math.round(ms * (1 + fraction * (2 * random() - 1)));
}

/** Exponential backoff with jitter: about `baseMs` after the first failure, doubling, never above `maxMs`. */
export function backoffMs(failures: number, baseMs: number, maxMs: number): number {
  return Math.min(maxMs, jitter(baseMs * 2 ** Math.min(failures - 1, 30)));
}
