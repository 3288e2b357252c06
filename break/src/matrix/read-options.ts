import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MatrixOptions } from "./matrix.ts";
import { readSchedule } from "./schedule.ts";

const nightlySchedules = 1_000;
const nightlyLanes = 2;
const root = join(import.meta.dirname, "..", "..", "..");

interface Values {
  readonly schedules?: string | undefined;
  readonly lanes?: string | undefined;
  /** JSON, or the name of a file that holds it. */
  readonly schedule?: string | undefined;
  readonly results?: string | undefined;
  readonly nightly?: boolean | undefined;
}

/** What the command line asks of `matrix`. At night the seed is the date, and results are kept. */
export function readMatrixOptions(values: Values): { matrix: MatrixOptions; seed: number | undefined } {
  const { nightly = false } = values;
  const number = (text: string | undefined, otherwise: number | undefined) => (text === undefined ? otherwise : Number(text));
  const { schedule } = values;
  const date = new Date().toISOString().slice(0, 10);
  const matrix = {
    schedules: number(values.schedules, nightly ? nightlySchedules : undefined),
    lanes: number(values.lanes, nightly ? nightlyLanes : undefined),
    schedule:
      schedule === undefined ? undefined : readSchedule(schedule.startsWith("{") ? schedule : readFileSync(schedule, "utf8")),
    results: values.results ?? (nightly ? join(root, ".amana", "matrix", `${date}.jsonl`) : undefined),
  };
  return { matrix, seed: nightly ? Number(date.replaceAll("-", "")) : undefined };
}
