import type { ProviderName, SetupProblem } from "./verification-provider.ts";

export interface CheckResult {
  readonly provider: ProviderName;
  /** Name of the check, for example "credentials". */
  readonly check: string;
  readonly result: "ok" | "warning" | "failure";
  /**
   * Cause and next step of a warning or failure. The text contains no secret and no text from the
   * vendor.
   */
  readonly text: string;
}

export type AddResult = (check: string, result: CheckResult["result"], text?: string) => void;

const clockSecondsMax = 30;

/** Adds a result for each problem, or one result "ok" if there is no problem. */
export function addProblemResults(check: string, problems: readonly SetupProblem[], add: AddResult): void {
  for (const { severity, text } of problems) add(check, severity === "error" ? "failure" : "warning", text);
  if (problems.length === 0) add(check, "ok");
}

/**
 * Compares the vendor's clock with the clock of this machine, because signatures and the ends of
 * links depend on the time. Adds a warning if `date` is undefined or invalid.
 */
export function addClockResult(date: Date | undefined, nowMs: number, add: AddResult): void {
  if (!date || Number.isNaN(date.getTime())) {
    add("reachable", "warning", "the response has no time, so the clock cannot be compared");
    return;
  }
  const seconds = Math.round(Math.abs(date.getTime() - nowMs) / 1_000);
  if (seconds <= clockSecondsMax) add("reachable", "ok");
  else
    add(
      "reachable",
      "failure",
      `this machine's clock differs from the vendor's clock by ${seconds} s; synchronize this machine's clock with NTP`,
    );
}
