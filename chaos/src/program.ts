import type { Schedule } from "./matrix/schedule.ts";
import type { Report } from "./report.ts";

/** Options of the program `matrix`. */
export interface MatrixOptions {
  /** Number of generated schedules, instead of minutes. Schedules that failed before run as well. */
  readonly schedules?: number | undefined;
  /** Systems side by side. */
  readonly lanes?: number | undefined;
  /** This one alone, again and again. */
  readonly schedule?: Schedule | undefined;
  /** A line is added to it for each schedule. */
  readonly results?: string | undefined;
  /** Whether a failing schedule is shortened, which takes minutes. Default: true. */
  readonly shrinks?: boolean | undefined;
}

/** How long and with what chances a program tries; the same seed makes the same choices. */
export interface Attempt {
  readonly seed: number;
  readonly seconds: number;
  /** For programs that count events: ends earlier when there were so many. */
  readonly eventsMax?: number | undefined;
  /** For `matrix`. */
  readonly matrix?: MatrixOptions | undefined;
  /** Goes off when the time is over: start nothing new, let what runs end, check, return. */
  readonly signal: AbortSignal;
  readonly report: Report;
  /** A line about what is going on, for whoever watches. */
  readonly say: (line: string) => void;
}

/**
 * A program that tries to break a promise. What it saw stands in the report; it throws only when it
 * cannot try.
 */
export interface Program {
  /** Which promise it attacks, and how, in one line. */
  readonly attacks: string;
  run(attempt: Attempt): Promise<void>;
}
