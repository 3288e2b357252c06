import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../src/eventually.ts";
import { freePort } from "../src/free-port.ts";
import { createServiceProcess, type ServiceProcess } from "../src/service-process.ts";

let logDir: string;
let service: ServiceProcess;
let url: string;
const crashedNames: string[] = [];

beforeEach(async () => {
  logDir = await mkdtemp(join(tmpdir(), "amana-service-"));
  crashedNames.length = 0;
});
afterEach(async () => {
  await service.stop();
  await rm(logDir, { recursive: true, force: true });
});

async function start(supervised: boolean): Promise<number> {
  const port = await freePort();
  url = `http://127.0.0.1:${port}/healthz`;
  const env = { HOST: "127.0.0.1", SANDBOX_PORT: String(port) };
  service = createServiceProcess({ name: "sandbox", env, port, logDir, supervised, onCrash: (name) => crashedNames.push(name) });
  await service.start();
  expect((await fetch(url)).status).toBe(200);
  return service.pid() as number;
}

test("createServiceProcess reports and restarts a supervised service each time that the service ends unexpectedly", async () => {
  for (let pid = await start(true), round = 1; round <= 2; round++) {
    process.kill(pid, "SIGKILL");
    await eventually(async () => {
      expect((await fetch(url)).status).toBe(200);
      expect(service.pid()).not.toBe(pid);
    });
    expect(crashedNames).toHaveLength(round);
    pid = service.pid() as number;
  }
});

test("createServiceProcess reports no crash when `stop` or `kill` ends the service", async () => {
  await start(true);
  await service.kill();
  await service.start();
  await service.stop();
  expect(service.isRunning()).toBe(false);
  expect(crashedNames).toEqual([]);
});

test("createServiceProcess reports an unsupervised service that ends unexpectedly, and starts it again only when `start` is called", async () => {
  process.kill(await start(false), "SIGKILL");
  await eventually(() => expect(crashedNames).toEqual(["sandbox"]));
  expect(service.isRunning()).toBe(false);
  await service.start();
  expect((await fetch(url)).status).toBe(200);
});
