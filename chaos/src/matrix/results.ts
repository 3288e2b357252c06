import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readSchedule, type Schedule } from "./schedule.ts";

/** Schedules that failed once, one a line; each run plays them first. Kept in the repository. */
export const regressionsFile = join(import.meta.dirname, "regressions.jsonl");

export function readRegressions(): Schedule[] {
  const text = existsSync(regressionsFile) ? readFileSync(regressionsFile, "utf8") : "";
  return text.split("\n").filter(Boolean).map(readSchedule);
}

/** Adds a schedule, unless it is there. */
export function addRegression(schedule: Schedule): void {
  const line = JSON.stringify(schedule);
  if (readRegressions().some((known) => JSON.stringify(known) === line)) return;
  appendFileSync(regressionsFile, `${line}\n`);
}

/** Adds a line to a file of results. */
export function writeResult(file: string, result: object): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(result)}\n`);
}
