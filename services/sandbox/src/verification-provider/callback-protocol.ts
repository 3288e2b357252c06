import type { Config } from "../config.ts";
import type { Application, PendingCallback } from "./application.ts";

/** Callbacks of a dialect: their bodies, signatures and retries. */
export interface CallbackProtocol {
  /** Returns the body for a change, or undefined if the dialect does not report the change. */
  bodyOf(application: Application, change: PendingCallback): object | undefined;
  secretsOf(config: Config): readonly string[];
  /** Returns the headers that sign the body. */
  sign(body: string, secrets: readonly string[]): Readonly<Record<string, string>>;
  /**
   * Returns the body with added personal data of an applicant. Each added value contains `word`.
   */
  leak(body: object, word: string): object;
  /** Time after which an attempt without a response counts as failed. */
  readonly timeoutMs: number;
  /**
   * Maximum number of attempts after the first attempt. If it is infinite, the number of configured
   * pauses is the maximum.
   */
  readonly retriesMax: number;
  /**
   * Returns whether an attempt with this status is repeated. `status` is undefined without a
   * response.
   */
  isRetried(status: number | undefined): boolean;
}

/** Returns the pause before the next attempt, or undefined if there is no further attempt. */
export function retryPauseMs(
  { retriesMax, isRetried }: CallbackProtocol,
  attemptsBefore: number,
  status: number | undefined,
  pausesMs: readonly number[],
): number | undefined {
  if (attemptsBefore >= retriesMax || !isRetried(status)) return undefined;
  // If a vendor makes more attempts than there are configured pauses, the last pause repeats.
  return pausesMs[attemptsBefore] ?? (retriesMax === Number.POSITIVE_INFINITY ? undefined : pausesMs.at(-1));
}
