import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentError } from "@amana/dev-env/command-line";
import type { MatrixOptions } from "../program.ts";
import { readSchedule, type Schedule } from "./schedule.ts";

const nightlySchedules = 1_000;
const nightlyWorkers = 2;
const root = join(import.meta.dirname, "..", "..", "..");

/** Command-line options of `matrix`. */
export interface MatrixValues {
  readonly schedules?: number;
  readonly workers?: number;
  readonly schedule?: Schedule;
  readonly results?: string;
  readonly nightly?: boolean;
}

/** Returns the options of a run. For a nightly run, the date is the seed and results are stored. */
export function readMatrixOptions(values: MatrixValues): { matrix: MatrixOptions; seed: number | undefined } {
  const { nightly = false } = values;
  const date = new Date().toISOString().slice(0, 10);
  const matrix = {
    schedules: values.schedules ?? (nightly ? nightlySchedules : undefined),
    workers: values.workers ?? (nightly ? nightlyWorkers : undefined),
    schedule: values.schedule,
    results: values.results ?? (nightly ? join(root, ".amana", "matrix", `${date}.jsonl`) : undefined),
  };
  return { matrix, seed: nightly ? Number(date.replaceAll("-", "")) : undefined };
}

/** Parses a schedule from JSON text, or from a file with this name. Throws InvalidArgumentError. */
export function scheduleFrom(text: string): Schedule {
  try {
    return readSchedule(text.startsWith("{") ? text : readFileSync(text, "utf8"));
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
