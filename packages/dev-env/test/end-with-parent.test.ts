import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { eventually } from "../src/eventually.ts";
import { readProcess } from "../src/running-process.ts";

const source = (name: string) => JSON.stringify(new URL(`../src/${name}.ts`, import.meta.url).href);

/**
 * Runs `body` in a new process, which prints the ids of its children, and waits for these ids.
 * Checks that the children run, unless `endsAtOnce` is true.
 */
async function startParent(body: string, endsAtOnce = false) {
  const script = `
    import { spawn } from "node:child_process";
    import { once } from "node:events";
    import { endWithParent } from ${source("end-with-parent")};
    import { runCommand } from ${source("run-command")};
    import { spawnServer } from ${source("server-process")};
    const sleep = { command: "sleep", args: ["60"], cwd: "/", env: process.env };
    const print = (...pids) => process.stdout.write(pids.join(" ") + "\\n");
    ${body}
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["pipe", "pipe", "ignore"],
    timeout: 30_000,
    killSignal: "SIGKILL",
  });
  const exited = once(parent, "exit");
  const [line] = await once(parent.stdout.setEncoding("utf8"), "data");
  const pids = String(line).trim().split(" ").map(Number);
  if (!endsAtOnce) for (const pid of pids) expect(readProcess(pid)).toBeDefined();
  return { parent, pids, exited };
}

const twoServers = "print((await spawnServer(sleep)).pid, (await spawnServer(sleep)).pid);";

test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const)(
  "endWithParent ends the servers of the calling process when that process receives %s",
  async (signal) => {
    const { parent, pids, exited } = await startParent(twoServers);
    parent.kill(signal);
    await exited;
    await eventually(() => expect(pids.map(readProcess)).toEqual([undefined, undefined]));
  },
);

test.each([
  ["throws an uncaught error", `throw new Error("defect")`],
  ["exits", "process.exit()"],
])("endWithParent ends the servers of the calling process when that process %s", async (_, statement) => {
  const { parent, pids, exited } = await startParent(`${twoServers} process.stdin.once("data", () => { ${statement}; });`);
  parent.stdin.write("now");
  await exited;
  await eventually(() => expect(pids.map(readProcess)).toEqual([undefined, undefined]));
});

test("spawnServer starts no server that survives if SIGKILL ends the parent between the server's start and the end of `spawn`", async () => {
  const { pids, exited } = await startParent(
    `
    import childProcess from "node:child_process";
    import { writeSync } from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const { spawn: spawnOriginal } = childProcess;
    childProcess.spawn = (command, args, options) => {
      const child = spawnOriginal(command, args, options);
      if (args.includes("60")) {
        writeSync(1, child.pid + "\\n");
        process.kill(process.pid, "SIGKILL");
      }
      return child;
    };
    syncBuiltinESMExports();
    await spawnServer(sleep);`,
    true,
  );
  await exited;
  await eventually(() => expect(pids.map(readProcess)).toEqual([undefined]));
});

test("runCommand ends the running command when its parent process is killed", async () => {
  const { parent, pids, exited } = await startParent(`
    void runCommand("sleep", ["60"], { timeoutMs: 60_000 });
    const { execFileSync } = await import("node:child_process");
    const lines = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" }).split("\\n");
    const line = lines.find((text) => new RegExp("^ *[0-9]+ +" + process.pid + " sleep 60").test(text));
    print(Number.parseInt(line ?? "", 10));`);
  parent.kill("SIGKILL");
  await exited;
  await eventually(() => expect(pids.map(readProcess)).toEqual([undefined]));
});

test("endWithParent ends a server even if the server is frozen when its parent is killed", async () => {
  const { parent, pids, exited } = await startParent(`print((await spawnServer({ ...sleep, orphanSignal: "SIGTERM" })).pid);`);
  process.kill(pids[0] as number, "SIGSTOP");
  parent.kill("SIGKILL");
  await exited;
  await eventually(() => expect(pids.map(readProcess)).toEqual([undefined]));
});

test("endWithParent ends all processes of a process group when the parent is killed", async () => {
  const { parent, pids, exited } = await startParent(`
    const leader = spawn("sh", ["-c", "sleep 60 & echo $!; wait"], { detached: true });
    endWithParent(-leader.pid, "SIGTERM");
    const [line] = await once(leader.stdout, "data");
    print(leader.pid, Number(line));`);
  parent.kill("SIGKILL");
  await exited;
  await eventually(() => expect(pids.map(readProcess)).toEqual([undefined, undefined]));
});

test("endWithParent does not end a process whose registration was cancelled", async () => {
  const { parent, pids, exited } = await startParent(`
    const kept = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    const release = endWithParent(kept.pid, "SIGKILL");
    const other = await spawnServer(sleep);
    release();
    print(kept.pid, other.pid);`);
  const [keptPid, serverPid] = pids as [number, number];
  parent.kill("SIGTERM");
  await exited;
  await eventually(() => expect(readProcess(serverPid)).toBeUndefined());
  expect(readProcess(keptPid)?.command).toBe("sleep 60");
  process.kill(keptPid, "SIGKILL");
});
