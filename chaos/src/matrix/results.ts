import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readSchedule, type Schedule } from "./schedule.ts";

/** File of schedules that failed in an earlier run, one on each line. Each run plays them first. */
export const regressionsFile = join(import.meta.dirname, "regressions.jsonl");

export function readRegressions(): Schedule[] {
  const text = existsSync(regressionsFile) ? readFileSync(regressionsFile, "utf8") : "";
  return text.split("\n").filter(Boolean).map(readSchedule);
}

/** Adds a schedule unless the file contains it. */
export function addRegression(schedule: Schedule): void {
  const line = JSON.stringify(schedule);
  if (readRegressions().some((regression) => JSON.stringify(regression) === line)) return;
  appendFileSync(regressionsFile, `${line}\n`);
}

/** Appends a line to a results file. */
export function writeResult(file: string, result: object): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(result)}\n`);
}
