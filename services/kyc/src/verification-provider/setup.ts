import type { SetupProblem } from "./verification-provider.ts";

/** A failed probe is repeated by a creation only after this time. */
const repeatAfterMs = 10_000;

/** Result of reading the configuration at a vendor. `value`: what creations need of it. */
export interface Setup<T> {
  readonly value: T | undefined;
  readonly problems: readonly SetupProblem[];
}

/**
 * Keeps the newest result of reading the configuration at a vendor. Creations are possible only
 * while it has no error, because a weaker configuration could approve without evidence.
 */
export function createSetup<T>(read: (timeoutMs: number) => Promise<Setup<T>>) {
  let newest: Setup<T> | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let running: Promise<Setup<T>> | undefined;
  const probe = (timeoutMs: number): Promise<Setup<T>> => {
    running ??= read(timeoutMs).finally(() => {
      running = undefined;
      readAtMs = performance.now();
    });
    return running.then((result) => {
      newest = result;
      return result;
    });
  };
  const isUsable = (setup: Setup<T> | undefined) => setup?.value !== undefined && !hasErrors(setup.problems);
  return {
    probe,
    /** Returns the newest configuration that was read, also one with errors. */
    newest: (): T | undefined => newest?.value,
    /** Returns the configuration if creations are possible. Reads it again after a failure. */
    async usable(timeoutMs: number): Promise<T | undefined> {
      if (!isUsable(newest) && (running || performance.now() - readAtMs >= repeatAfterMs)) await probe(timeoutMs);
      return isUsable(newest) ? newest?.value : undefined;
    },
  };
}

export const hasErrors = (problems: readonly SetupProblem[]): boolean => problems.some(({ severity }) => severity === "error");
