import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Amana } from "@amana/client";
import type { DevFile } from "@amana/dev-env/dev-file";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { readProcess } from "@amana/dev-env/running-process";
import { bundlesVariable } from "@amana/dev-env/service-process";
import { findChromium } from "@amana/runtime/chromium";
import { request } from "undici";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { copySystemData } from "../../src/system-data.ts";

const root = join(import.meta.dirname, "..", "..", "..");

let folder: string;
let port: number;
let sandboxPort: number;
const children = new Set<ChildProcess>();
/**
 * Makes `start` run the services from their source, as on a new machine, in place of the bundles
 * of the test run.
 */
const fromSource = { [bundlesVariable]: "" };

async function prepareFolder() {
  folder = await mkdtemp(join(tmpdir(), "amana start "));
  [port, sandboxPort] = await Promise.all([freePort(), freePort()]);
}
async function stopAll() {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGINT");
      await once(child, "exit");
    }
  }
  children.clear();
  await rm(folder, { recursive: true, force: true });
}

/** Runs a program of dev-env. The name of its data folder contains a space. */
function run(program: string, args: string[] = [], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(root, "packages", "dev-env", "src", program), ...args], {
    cwd: root,
    env: {
      ...process.env,
      AMANA_DIR: folder,
      PORT: String(port),
      SANDBOX_PORT: String(sandboxPort),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return { child, output: () => output, ended: once(child, "exit").then(([code]) => code as number | null) };
}

const readDevFile = async (): Promise<DevFile> => JSON.parse(await readFile(join(folder, "dev.json"), "utf8")) as DevFile;

describe("pnpm start", () => {
  beforeEach(prepareFolder);
  afterEach(stopAll);

  test.each([[["--help"]], [["--", "--help"]]])("`pnpm start` prints its usage for the arguments %j", async (args) => {
    const help = run("start.ts", args);
    expect(await help.ended).toBe(0);
    expect(help.output()).toMatch(/--events <transport>.*"auto", "kafka",\s+"docker", "direct"/s);
  });

  test("`pnpm start` rejects an unknown option and prints the option's name", async () => {
    const start = run("start.ts", ["--unknown"]);
    expect(await start.ended).toBe(2);
    expect(start.output()).toMatch(/unknown option '--unknown'[\s\S]*start --help/);
    expect(start.output()).not.toContain("    at ");
  });

  test("`pnpm start` exits with code 1 if a port is in use, and prints the port and the setting that changes it", async () => {
    const portUser = createServer().listen(port, "127.0.0.1");
    await once(portUser, "listening");
    const start = run("start.ts", ["--events=direct"]);
    expect(await start.ended).toBe(1);
    expect(start.output()).toMatch(new RegExp(`Port ${port}[\\s\\S]*Set PORT`));
    portUser.close();
  });

  test("`pnpm start` rejects an unknown value of --events and prints the permitted values", async () => {
    const start = run("start.ts", ["--events=pigeon"]);
    expect(await start.ended).toBe(2);
    expect(start.output()).toContain("Allowed choices are auto, kafka, docker, direct");
  });

  test("`pnpm start` prints valid API keys, leaves no process when it stops, and uses the same data in its next run", async () => {
    const first = run("start.ts", ["--events=direct"], fromSource);
    await eventually(() => expect(first.output()).toContain("Ready after"), 300_000);
    const { business, gateway_url, admin_key } = await readDevFile();
    for (const key of [business.api_key, admin_key]) expect(first.output()).toContain(key);
    const { pids } = JSON.parse(await readFile(join(folder, "processes.json"), "utf8")) as { pids: number[] };
    expect(pids.length).toBeGreaterThan(4);

    // A second `start` with the same folder exits and changes nothing, even with --fresh.
    const secondStart = run("start.ts", ["--events=direct", "--fresh"], {
      PORT: String(await freePort()),
      SANDBOX_PORT: String(await freePort()),
    });
    expect(await secondStart.ended).toBe(1);
    expect(secondStart.output()).toContain("is already running on");
    expect((await request(`${gateway_url}/readyz`)).statusCode).toBe(200);

    const bootstrapOperator = new Amana({ baseUrl: gateway_url, apiKey: admin_key });
    const { admin_key: newKey = "" } = await bootstrapOperator.operatorKeys.create({ name: "Amina" });
    const operator = new Amana({ baseUrl: gateway_url, apiKey: newKey });
    for await (const { id, name } of bootstrapOperator.operatorKeys.list())
      if (name === "bootstrap") await operator.operatorKeys.revoke(id);

    first.child.kill("SIGINT");
    expect(await first.ended).toBe(0);
    for (const pid of pids) expect(readProcess(pid)).toBeUndefined();
    expect(existsSync(join(folder, "dev.json"))).toBe(false);

    const second = run("start.ts", ["--events=direct"]);
    await eventually(() => expect(second.output()).toContain("Ready after"), 300_000);
    expect((await readDevFile()).business).toEqual(business);
    expect(second.output()).toMatch(/Operator key +revoked; use a newer key/);
    expect(second.output()).not.toContain(admin_key);
    expect(second.output()).toContain(business.api_key);
    const me = await request(`${gateway_url}/api/v1/me`, { headers: { authorization: `Bearer ${business.api_key}` } });
    expect(me.statusCode).toBe(200);
    await me.body.dump();
  });

  test("`pnpm start` ends immediately and leaves no process if it is stopped before all services are ready", async () => {
    const start = run("start.ts", ["--events=direct"]);
    await eventually(() => expect(start.output()).toContain("PostgreSQL"), 300_000);
    start.child.kill("SIGINT");
    expect(await start.ended).toBe(0);
    expect(start.output()).not.toContain("Ready after");
    const postmaster = await readFile(join(folder, "postgres", "postmaster.pid"), "utf8").catch(() => "");
    expect(postmaster).toBe("");
  });

  test("`pnpm start` stops the processes that a killed run left, and deletes the data of the killed run only with --fresh", async () => {
    await copySystemData(folder, { withPostgres: true });
    const startAndWait = async (...args: string[]) => {
      const start = run("start.ts", ["--events=direct", ...args]);
      await eventually(() => expect(start.output()).toContain("Ready after"), 300_000);
      return { ...start, business: (await readDevFile()).business };
    };
    const first = await startAndWait();
    const kill = async ({ child, ended }: typeof first) => {
      const { pids } = JSON.parse(await readFile(join(folder, "processes.json"), "utf8")) as { pids: number[] };
      pids.push(Number.parseInt(await readFile(join(folder, "postgres", "postmaster.pid"), "utf8"), 10));
      child.kill("SIGKILL");
      await ended;
      return pids;
    };
    const pids = await kill(first);
    const second = await startAndWait();
    expect(second.business).toEqual(first.business);
    pids.push(...(await kill(second)));
    const third = await startAndWait("--fresh");
    expect(third.business.id).not.toBe(first.business.id);
    expect(pids.length).toBeGreaterThan(10);
    for (const pid of pids) expect(readProcess(pid)).toBeUndefined();
  });
});

describe("pnpm demo without a running system", () => {
  beforeEach(prepareFolder);
  afterEach(stopAll);

  test("`pnpm demo` starts its own system, and the demo passes, if no system is running", async () => {
    await copySystemData(folder, { withPostgres: true });
    const demo = run("demo/demo.ts");
    expect(await demo.ended, demo.output()).toBe(0);
    expect(demo.output()).toContain("The demo passed: all steps have the expected results.");
    if (process.env["CI"]) expect(demo.output()).toContain("events: kafka");
  });
});

describe("pnpm demo with a running system", () => {
  beforeAll(async () => {
    await prepareFolder();
    await copySystemData(folder, { withPostgres: true });
    const start = run("start.ts", ["--events=direct"]);
    await eventually(() => expect(start.output()).toContain("Ready after"), 300_000);
  });
  afterAll(stopAll);

  const hasChromium = findChromium() !== undefined;
  if (!hasChromium)
    console.warn(
      `\nSKIPPED the test of the demo in a browser, because no Chromium was found. Debian: apt-get install chromium\n`,
    );
  test.runIf(hasChromium)(
    "`pnpm demo --browser` pays in a browser on the hosted payment page",
    async () => {
      const demo = run("demo/demo.ts", ["--", "--browser"]);
      expect(await demo.ended, demo.output()).toBe(0);
      expect(demo.output()).toContain("Using the running system.");
      expect(demo.output()).toContain("in a browser");
    },
    200_000,
  );

  test("`pnpm demo` exits with code 1 and prints the unexpected response if the processor rejects the refund", async () => {
    await request(`http://127.0.0.1:${sandboxPort}/sandbox/faults`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ operation: "refund", mode: "error:5", times: 1 }),
    });
    const demo = run("demo/demo.ts");
    expect(await demo.ended).toBe(1);
    expect(demo.output()).toContain("refund_refused");
  });
});
