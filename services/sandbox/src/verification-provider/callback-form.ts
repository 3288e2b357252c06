import type { Config } from "../config.ts";
import type { Application, PendingCallback } from "./application.ts";

/** Callbacks of a dialect: their bodies, signatures and retries. */
export interface CallbackForm {
  /** Returns the body of a change's callback. Undefined: the dialect does not report it. */
  bodyOf(application: Application, change: PendingCallback): object | undefined;
  secretsOf(config: Config): readonly string[];
  /** Returns the headers that sign the body. */
  sign(body: string, secrets: readonly string[]): Readonly<Record<string, string>>;
  /** Returns the body with personal data of an applicant, whose values contain the word. */
  leak(body: object, word: string): object;
  /** Time until an attempt without a response counts as failed. */
  readonly timeoutMs: number;
  /** Maximum of attempts after the first one, in addition to the limit by the configured pauses. */
  readonly retriesMax: number;
  /** Returns whether a rejected attempt is repeated. `status`: undefined without a response. */
  isRetried(status: number | undefined): boolean;
}

/** Returns the pause before the next attempt. Undefined if there is none. */
export function retryPauseMs(
  { retriesMax, isRetried }: CallbackForm,
  attemptsBefore: number,
  status: number | undefined,
  pausesMs: readonly number[],
): number | undefined {
  if (attemptsBefore >= retriesMax || !isRetried(status)) return undefined;
  // A vendor's number of attempts is its own, so its last pauses can be equal.
  return pausesMs[attemptsBefore] ?? (retriesMax === Number.POSITIVE_INFINITY ? undefined : pausesMs.at(-1));
}
