import type { SetupProblem } from "./verification-provider.ts";

/** Minimum time between a read that found errors and the next read by `usable`. */
const repeatAfterMs = 10_000;

/**
 * Configuration at a provider. `value` contains the settings that are needed to create an
 * application; it is undefined if they could not be read.
 */
export interface ProviderSetup<T> {
  readonly value: T | undefined;
  readonly problems: readonly SetupProblem[];
}

/**
 * Caches the configuration at a vendor. Applications can be created only while the configuration
 * has no error, because a vendor with fewer checks could approve without evidence.
 */
export function createSetup<T>(read: (timeoutMs: number) => Promise<ProviderSetup<T>>) {
  let newest: ProviderSetup<T> | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let running: Promise<ProviderSetup<T>> | undefined;
  const probe = (timeoutMs: number): Promise<ProviderSetup<T>> => {
    running ??= read(timeoutMs).finally(() => {
      running = undefined;
      readAtMs = performance.now();
    });
    return running.then((result) => {
      newest = result;
      return result;
    });
  };
  const isUsable = (setup: ProviderSetup<T> | undefined) => setup?.value !== undefined && !hasErrors(setup.problems);
  return {
    probe,
    /** Returns the cached configuration, even if it has errors. */
    newest: (): T | undefined => newest?.value,
    /**
     * Returns the configuration if it has no error. If the cached configuration has errors, reads
     * it again first.
     */
    async usable(timeoutMs: number): Promise<T | undefined> {
      // If the configuration could not be read, reads it again without a pause, because the vendor
      // may respond again at any time.
      const isDue = running || newest?.value === undefined || performance.now() - readAtMs >= repeatAfterMs;
      if (!isUsable(newest) && isDue) await probe(timeoutMs);
      return isUsable(newest) ? newest?.value : undefined;
    },
  };
}

const hasErrors = (problems: readonly SetupProblem[]): boolean => problems.some(({ severity }) => severity === "error");

export const setupError = (text: string): SetupProblem => ({ severity: "error", text });
export const setupWarning = (text: string): SetupProblem => ({ severity: "warning", text });

/**
 * Creates an empty list of problems. If a condition is not met, `require` adds an error, and
 * `advise` adds a warning. `prefix` precedes the text of each problem.
 */
export function createProblems(prefix = "") {
  const problems: SetupProblem[] = [];
  return {
    problems,
    require: (isMet: boolean, text: string) => void (isMet || problems.push(setupError(`${prefix}${text}`))),
    advise: (isMet: boolean, text: string) => void (isMet || problems.push(setupWarning(`${prefix}${text}`))),
  };
}
