import { waitAtMost } from "@amana/runtime";

/**
 * Runs work on one thing at a time in this process, once for all who ask while they wait: each is
 * served by a run that began after it had asked, so a thousand at once cost two runs.
 * `remainingMs`: how long the caller waits; the run gets that of who asked last.
 */
export function createSingleFlight() {
  const turns = new Map<string, { hasBegun: boolean; remainingMs: () => number; done: Promise<void> }>();

  return async (id: string, remainingMs: () => number, work: (remainingMs: () => number) => Promise<void>): Promise<void> => {
    const last = turns.get(id);
    let turn = last;
    if (turn && !turn.hasBegun) turn.remainingMs = remainingMs;
    else {
      const own = { hasBegun: false, remainingMs, done: Promise.resolve() };
      own.done = (async () => {
        await last?.done.catch(() => {});
        own.hasBegun = true;
        try {
          await work(own.remainingMs);
        } finally {
          if (turns.get(id) === own) turns.delete(id);
        }
      })();
      // Perhaps nobody waits for it any more when it fails.
      own.done.catch(() => {});
      turns.set(id, own);
      turn = own;
    }
    await waitAtMost(remainingMs(), turn.done);
  };
}
