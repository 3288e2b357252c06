import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { KycProvider } from "@amana/dev-env/services";
import { readSchedule, type Schedule } from "./schedule.ts";

/** File with the schedules that failed in earlier runs, one per line. Each run plays them first. */
export const regressionsFile = join(import.meta.dirname, "regressions.jsonl");

/** Returns the stored schedules that failed with this verification provider. */
export function readRegressions(provider: KycProvider): Schedule[] {
  const text = existsSync(regressionsFile) ? readFileSync(regressionsFile, "utf8") : "";
  const schedules = text.split("\n").filter(Boolean).map(readSchedule);
  return schedules.filter(({ kycProvider = "port" }) => kycProvider === provider);
}

/** Adds a schedule to the regressions if the file does not contain it yet. */
export function addRegression(schedule: Schedule): void {
  const line = JSON.stringify(schedule);
  if (readRegressions(schedule.kycProvider ?? "port").some((regression) => JSON.stringify(regression) === line)) return;
  appendFileSync(regressionsFile, `${line}\n`);
}

/** Appends a line to a results file. */
export function writeResult(file: string, result: object): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(result)}\n`);
}
