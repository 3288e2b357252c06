interface Waiter {
  readonly admit: (admitted: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Places that callers hold during their calls, nobody more than `perCaller`. Those who find none
 * take turns by caller, so that a thousand calls of one delay another's by no more than one.
 */
export class Turns {
  readonly #perCaller: number;
  #free: number;
  readonly #held = new Map<string, number>();
  /** Whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiter[]>();

  constructor({ places, perCaller }: { places: number; perCaller: number }) {
    this.#free = places;
    this.#perCaller = perCaller;
  }

  /** Does the work when the caller's turn has come; throws when that is not within `waitMs`. */
  async run<T>(
    caller: string,
    waitMs: number,
    work: () => Promise<T>,
    tooLate = () => new Error(`no place came free within ${Math.round(waitMs)} ms`),
  ): Promise<T> {
    const entered = this.enter(caller, waitMs);
    if (entered !== true && !(await entered)) throw tooLate();
    try {
      return await work();
    } finally {
      this.leave(caller);
    }
  }

  /** How much of a caller waits for its turn. */
  waiting(caller: string): number {
    return this.#waiting.get(caller)?.length ?? 0;
  }

  /** True at once or in time; false when no place came free. Who was let in has to `leave`. */
  enter(caller: string, waitMs: number): true | Promise<boolean> {
    // Where a place is free, everyone who waits has all that one caller may hold.
    if (this.#free > 0 && this.#heldBy(caller) < this.#perCaller) return this.#take(caller);
    return new Promise((admit) => {
      const timer = setTimeout(() => this.#giveUp(caller, waiter), waitMs);
      const waiter = { admit, timer };
      const waiters = this.#waiting.get(caller);
      if (waiters) waiters.push(waiter);
      else this.#waiting.set(caller, [waiter]);
    });
  }

  leave(caller: string): void {
    const held = this.#heldBy(caller) - 1;
    if (held === 0) this.#held.delete(caller);
    else this.#held.set(caller, held);
    this.#free++;
    for (const [next, waiters] of this.#waiting) {
      if (this.#heldBy(next) >= this.#perCaller) continue;
      const { admit, timer } = waiters.shift() as Waiter;
      clearTimeout(timer);
      // To the end of the row.
      this.#waiting.delete(next);
      if (waiters.length > 0) this.#waiting.set(next, waiters);
      admit(this.#take(next));
      return;
    }
  }

  #take(caller: string): true {
    this.#free--;
    this.#held.set(caller, this.#heldBy(caller) + 1);
    return true;
  }

  #giveUp(caller: string, waiter: Waiter): void {
    const waiters = this.#waiting.get(caller) ?? [];
    waiters.splice(waiters.indexOf(waiter), 1);
    if (waiters.length === 0) this.#waiting.delete(caller);
    waiter.admit(false);
  }

  #heldBy(caller: string): number {
    return this.#held.get(caller) ?? 0;
  }
}
