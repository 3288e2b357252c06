import { setupError, setupWarning } from "./setup.ts";
import type { ProviderName, SetupProblem } from "./verification-provider.ts";

export interface CheckResult {
  readonly provider: ProviderName;
  /** Name of the check, for example "credentials". */
  readonly check: string;
  readonly result: "ok" | "warning" | "failure";
  /**
   * Cause and next step of a warning or failure, or a note about the result "ok". The text contains
   * no secret and no text from the vendor.
   */
  readonly text: string;
}

/** Adds a result for each problem. Without a problem, adds one result "ok" with the text `note`. */
export type AddResults = (check: string, problems: readonly SetupProblem[], note?: string) => void;

const clockSecondsMax = 30;

/**
 * Compares the vendor's time, `date`, with the clock of this machine, because signatures and the
 * ends of links depend on the time. Returns a problem if the difference exceeds `clockSecondsMax`,
 * or a warning if `date` is undefined or invalid.
 */
export function clockProblems(date: Date | undefined, nowMs: number): SetupProblem[] {
  if (!date || Number.isNaN(date.getTime())) {
    return [setupWarning("the response has no time, so the clock cannot be compared")];
  }
  const seconds = Math.round(Math.abs(date.getTime() - nowMs) / 1_000);
  if (seconds <= clockSecondsMax) return [];
  const cause = `this machine's clock differs from the vendor's clock by ${seconds} s`;
  return [setupError(`${cause}; synchronize this machine's clock with NTP`)];
}
