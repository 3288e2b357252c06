import { readdirSync, readFileSync } from "node:fs";

/** All processes below one, named for what they are (Linux). */
export function descendants(rootPid: number): { pid: number; name: string }[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
        return [{ pid: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ") }];
      } catch {
        return [];
      }
    });
  const below = (pid: number): typeof all =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(child.pid)]);
  return below(rootPid).map(({ pid, command }) => ({ pid, name: nameOf(command) }));
}

function nameOf(command: string): string {
  const [, service] = /services\/(\w+)\/src\/main\.ts/.exec(command) ?? [];
  if (service) return service;
  if (command.includes("kafka.Kafka")) return "kafka";
  return command.includes("postgres") ? "postgres (sum; shared memory counted for each)" : command.slice(0, 30);
}
