import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

/** Resident memory and numbers of open file descriptors of a process, read from /proc. */
export interface ProcessUse {
  readonly megabytes: number;
  readonly handles: number;
  readonly sockets: number;
}

export async function readProcessUse(pid: number): Promise<ProcessUse> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder);
  const targets = await Promise.all(names.map((name) => readlink(join(folder, name)).catch(() => "")));
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return {
    megabytes: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024),
    handles: names.length,
    sockets: targets.filter((target) => target.startsWith("socket:")).length,
  };
}
