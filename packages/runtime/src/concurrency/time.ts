import { setTimeout as delay } from "node:timers/promises";

/** Waits for `ms`. When the signal aborts, the function resolves early and does not throw. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    if ((error as Error).name !== "AbortError") throw error;
  }
}

/**
 * Pause of a loop that searches for work. `wake` ends the pause early, or skips it when the loop is
 * searching. Call `begin` before a search, and `wait` after a search without a result.
 */
export class Pause {
  #woken = false;
  #end = () => {};

  begin(): void {
    this.#woken = false;
  }

  wake(): void {
    this.#woken = true;
    this.#end();
  }

  /**
   * Waits for `ms`, or until `wake` is called. Returns whether `wake` was called. An AbortSignal
   * would cost 10 µs more for each wait.
   */
  async wait(ms: number): Promise<boolean> {
    if (this.#woken || ms <= 0) return this.#woken;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.ceil(ms));
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    return this.#woken;
  }
}

/**
 * Returns the result of the work. Throws when the work takes longer than `ms`, but does not stop
 * the work.
 */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  const outcome = await waitAtMost(
    ms,
    work.then((result) => ({ result })),
  );
  if (!outcome) throw new Error(`no result within ${ms} ms`);
  return outcome.result;
}

/**
 * Returns the result of the work, or undefined when it takes longer than `ms`. The work is not
 * stopped.
 */
export async function waitAtMost<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const ended = new AbortController();
  try {
    return (await Promise.race([work, sleep(ms, ended.signal)])) ?? undefined;
  } finally {
    ended.abort();
  }
}

/** Returns a random time in `ms` ± `fraction`, so that many retries do not run at the same time. */
export function jitter(ms: number, fraction = 0.2, random: () => number = Math.random): number {
  return Math.round(ms * (1 + fraction * (2 * random() - 1)));
}

/**
 * Returns the delay before a retry, with jitter: `baseMs` after the first failure, doubled with
 * each further failure, at most `maxMs`.
 */
export function backoffMs(failures: number, baseMs: number, maxMs: number): number {
  return Math.min(maxMs, jitter(baseMs * 2 ** Math.min(failures - 1, 30)));
}

/** Returns the pause with this index, or the last pause if the schedule is shorter. */
export function scheduledPause(pauses: readonly number[], index: number): number {
  const pause = pauses[Math.min(index, pauses.length - 1)];
  if (pause === undefined) throw new RangeError("a schedule needs at least one pause");
  return pause;
}

const dateMsMax = 8.64e15;

/**
 * Converts Unix milliseconds of a request to a Date. Times before 1970 or beyond the range of Date
 * become the nearest valid time. Returns undefined for undefined.
 */
export function dateOf(ms: bigint | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(Math.min(dateMsMax, Math.max(0, Number(ms))));
}
