import { readFileSync } from "node:fs";
import { serviceNames } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import type { Report } from "../report.ts";

/** Maximum resident memory. In deployments, the memory limit of a process is 512 MiB. */
const residentMiBMax = 450;

/** Checks the largest resident memory that each process has used since its start (from /proc). */
export function checkMemory(system: System, report: Report, log: (line: string) => void): void {
  const peaks = serviceNames
    .filter((name) => name !== "sandbox")
    .map((name) => ({ name, mebibytes: readPeakMebibytes(system.services[name].pid()) }));
  log(`largest resident sets in MiB: ${peaks.map(({ name, mebibytes }) => `${name} ${mebibytes}`).join(", ")}`);
  for (const { name, mebibytes } of peaks)
    report.check(
      `the resident set stays below ${residentMiBMax} MiB`,
      mebibytes < residentMiBMax,
      () => `${name}: ${mebibytes} MiB`,
    );
}

function readPeakMebibytes(pid: number | undefined): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kibibytes) / 1024);
}
