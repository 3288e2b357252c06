import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sleep } from "../concurrency/time.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "fault-point-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const module = join(import.meta.dirname, "fault-point.ts");
/** Script that passes the fault point every 10 ms and prints a line each time. */
const script = `
  const { faultPoint } = await import(${JSON.stringify(module)});
  setInterval(() => { faultPoint("a.point"); console.log("passed"); }, 10);
`;

function start(env: Record<string, string>): ChildProcess {
  const childEnv = { PATH: process.env["PATH"], NODE_NO_WARNINGS: "1", ...env };
  return spawn(process.execPath, ["--input-type=module", "-e", script], { env: childEnv, stdio: ["ignore", "pipe", "pipe"] });
}

const waitForPass = (child: ChildProcess) => once(child.stdout as NodeJS.EventEmitter, "data");

test("faultPoint kills only one of several running processes when the file that FAULT_POINT_FILE names is created", async () => {
  const file = join(dir, "kill");
  const children = [start({ FAULT_POINT_FILE: file }), start({ FAULT_POINT_FILE: file })] as const;
  await Promise.all(children.map(waitForPass));
  writeFileSync(file, "another.point SIGKILL");
  await Promise.all(children.map(waitForPass));
  const ended = Promise.race(children.map(async (child, index) => [index, ...(await once(child, "exit"))] as const));
  writeFileSync(file, "a.point SIGKILL");
  const [index, , signal] = await ended;
  expect(signal).toBe("SIGKILL");
  expect(existsSync(`${file}.${children[index]?.pid}`)).toBe(true);
  const runningChild = children[1 - index] as ChildProcess;
  await waitForPass(runningChild);
  runningChild.kill("SIGKILL");
});

test("faultPoint with SIGSTOP freezes the process until SIGCONT", async () => {
  const file = join(dir, "stop");
  const child = start({ FAULT_POINT_FILE: file });
  await waitForPass(child);
  writeFileSync(file, "a.point SIGSTOP");
  await expect.poll(() => existsSync(`${file}.${child.pid}`)).toBe(true);
  // Waits until the test has read earlier output.
  await sleep(200);
  let outputs = 0;
  child.stdout?.on("data", () => outputs++);
  await sleep(200);
  expect(outputs).toBe(0);
  child.kill("SIGCONT");
  await waitForPass(child);
  child.kill("SIGKILL");
});

test.each(["FAULT_POINT", "FAULT_POINT_FILE"])("a service process in production does not start if %s is set", async (name) => {
  const child = start({ NODE_ENV: "production", [name]: "a.point" });
  const [code] = await once(child, "exit");
  expect(code).not.toBe(0);
});
