import type { KycProvider } from "@amana/dev-env/services";
import type { Schedule } from "./matrix/schedule.ts";
import type { Report } from "./report.ts";

/** Options of the program `matrix`. */
export interface MatrixOptions {
  /**
   * Number of generated schedules after which the run ends. The regressions are not counted.
   */
  readonly schedules?: number;
  /** Number of systems that run in parallel, each with its own worker. Default: 1. */
  readonly workers?: number;
  /** If set, the run plays only this schedule, repeatedly. */
  readonly schedule?: Schedule;
  /** File to which one JSON line for each schedule is appended. */
  readonly results?: string;
  /** If true, the run shortens each failing schedule, which takes minutes. Default: true. */
  readonly shrinks?: boolean;
}

/** Options of one run of a program. The same seed leads to the same random choices. */
export interface ProgramRun {
  readonly seed: number;
  readonly seconds: number;
  /** Number of committed events after which the program `events` ends, if the time is not over. */
  readonly eventsMax?: number;
  /**
   * Verification provider of the system, for the programs `matrix`, `secrets` and `verdicts`.
   * Default: `port`, Amana's own protocol.
   */
  readonly kycProvider?: KycProvider;
  /** Options of the program `matrix`. */
  readonly matrix?: MatrixOptions;
  /**
   * Aborts at the end of the run time. The program then starts no new work, finishes running work,
   * checks the results and returns.
   */
  readonly signal: AbortSignal;
  readonly report: Report;
  /** Prints one line of progress. */
  readonly log: (line: string) => void;
}

/**
 * A program that tries to break a promise. Violations go into the report. `run` throws only if the
 * attack cannot run.
 */
export interface Program {
  /** The attacked promise and the attack, in one line. */
  readonly summary: string;
  run(options: ProgramRun): Promise<void>;
}
