import { allTenants, forTenant, waitAtMost } from "@amana/runtime";
import type { SetupProblem } from "./verification-provider.ts";

/** Minimum time between a read that found errors and the next read by `usable`. */
const repeatAfterMs = 10_000;
/** Maximum time of a read. A caller waits at most for its own time. */
const readMsMax = 15_000;

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
 * has no error, because a vendor with fewer checks could approve without evidence. If a later read
 * fails, the last usable configuration stays valid until a read succeeds.
 */
export function createSetup<T>(read: (timeoutMs: number) => Promise<ProviderSetup<T>>) {
  let newest: ProviderSetup<T> | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let running: Promise<ProviderSetup<T>> | undefined;
  const isUsable = (setup: ProviderSetup<T> | undefined) => setup?.value !== undefined && !hasErrors(setup.problems);
  const probe = async (): Promise<ProviderSetup<T>> => {
    // The callers of several businesses share a read. As a call of the first caller's business, the
    // read would wait behind all other calls of this business.
    running ??= forTenant(allTenants, () => read(readMsMax)).finally(() => {
      running = undefined;
      readAtMs = performance.now();
    });
    const result = await running;
    if (result.value !== undefined || !isUsable(newest)) newest = result;
    return result;
  };
  return {
    probe,
    /** Returns the cached configuration, even if it has errors. */
    newest: (): T | undefined => newest?.value,
    /**
     * Returns the configuration if it has no error. If the cached configuration has errors, reads
     * it again first, for at most `timeoutMs`.
     */
    async usable(timeoutMs: number): Promise<T | undefined> {
      // If the configuration could not be read, reads it again without a pause, because the vendor
      // may respond again at any time.
      const isDue = running || newest?.value === undefined || performance.now() - readAtMs >= repeatAfterMs;
      if (!isUsable(newest) && isDue) await waitAtMost(timeoutMs, probe());
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
