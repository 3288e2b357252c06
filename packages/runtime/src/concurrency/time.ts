import { setTimeout as delay } from "node:timers/promises";

/** Waits; ends early, without an error, when the signal aborts. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    if ((error as Error).name !== "AbortError") throw error;
  }
}

/**
 * The wait of a loop that looks for work. `wake` ends it early, also while the loop is looking.
 * Call `begin` before looking, and `wait` when nothing was found.
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

  /** Returns whether it was woken. Not by an AbortSignal, which takes 10 µs more for each wait. */
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

/** What the work comes to. Throws when that takes longer than `ms`; the work itself goes on. */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  const end = await waitAtMost(
    ms,
    work.then((result) => ({ result })),
  );
  if (!end) throw new Error(`no answer within ${ms} ms`);
  return end.result;
}

/** What the work comes to; undefined when that takes longer than `ms`: the work itself goes on. */
export async function waitAtMost<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const ended = new AbortController();
  try {
    return (await Promise.race([work, sleep(ms, ended.signal)])) ?? undefined;
  } finally {
    ended.abort();
  }
}

/** A time spread evenly by ± `fraction`, so that many retries do not fall on one instant. */
export function jitter(ms: number, fraction = 0.2, random: () => number = Math.random): number {
  return Math.round(ms * (1 + fraction * (2 * random() - 1)));
}

/** With jitter: about `baseMs` after the first failure, doubling, never above `maxMs`. */
export function backoffMs(failures: number, baseMs: number, maxMs: number): number {
  return Math.min(maxMs, jitter(baseMs * 2 ** Math.min(failures - 1, 30)));
}

/** The pause after the `done`-th time, counted from 0: the next of these. The last one repeats. */
export function nextPause(pauses: readonly number[], done: number): number {
  const pause = pauses[Math.min(done, pauses.length - 1)];
  if (pause === undefined) throw new RangeError("a schedule needs a pause");
  return pause;
}

const dateMsMax = 8.64e15;

/** A request's Unix milliseconds, between 1970 and what a Date holds; undefined stays so. */
export function dateOf(ms: bigint | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(Math.min(dateMsMax, Math.max(0, Number(ms))));
}
