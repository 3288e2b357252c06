interface Waiter {
  begin(): void;
}

/**
 * At most `max` pieces of work at the same time, of one business at most half of them, and the free places go to the
 * businesses by turns: one that brings a thousand pieces costs another's only the wait for one place.
 */
export function createFairTurns(max: number) {
  const shareMax = Math.max(1, Math.floor(max / 2));
  const working = new Map<string, number>();
  /** In the order of their turns. */
  const waiting = new Map<string, Waiter[]>();
  let inUse = 0;

  const mayBegin = (businessId: string) => inUse < max && (working.get(businessId) ?? 0) < shareMax;

  const count = (businessId: string, by: 1 | -1) => {
    inUse += by;
    const mine = (working.get(businessId) ?? 0) + by;
    if (mine === 0) working.delete(businessId);
    else working.set(businessId, mine);
  };

  const giveTurns = () => {
    for (const [businessId, queue] of waiting) {
      if (!mayBegin(businessId)) continue;
      const waiter = queue.shift();
      // To the end of the line, where this loop comes by again.
      waiting.delete(businessId);
      if (queue.length > 0) waiting.set(businessId, queue);
      count(businessId, 1);
      waiter?.begin();
    }
  };

  const turn = (businessId: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const queue = waiting.get(businessId) ?? [];
      const waiter = {
        begin() {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = () => {
        const left = queue.filter((other) => other !== waiter);
        queue.splice(0, queue.length, ...left);
        if (queue.length === 0) waiting.delete(businessId);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      queue.push(waiter);
      waiting.set(businessId, queue);
    });

  return {
    /** Rejects when `signal` aborts before the turn has come. */
    async run<T>(businessId: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      signal.throwIfAborted();
      if (mayBegin(businessId)) count(businessId, 1);
      else await turn(businessId, signal);
      try {
        return await work();
      } finally {
        count(businessId, -1);
        giveTurns();
      }
    },

    waiting: (businessId: string): number => waiting.get(businessId)?.length ?? 0,
  };
}
