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
import { request } from "undici";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { copySystemData } from "../../src/system-data.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const chromium = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";

let folder: string;
let port: number;
let sandboxPort: number;
const children = new Set<ChildProcess>();
/**
 * Runs the services from their source, as on a new machine, and not from the bundles of the test
 * run.
 */
const fromSource = { [bundlesVariable]: "" };

async function open() {
  folder = await mkdtemp(join(tmpdir(), "amana start "));
  [port, sandboxPort] = await Promise.all([freePort(), freePort()]);
}
async function close() {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGINT");
      await once(child, "exit");
    }
  }
  children.clear();
  await rm(folder, { recursive: true, force: true });
}

/** Runs a program of dev-env with a data folder that has a space in its name. */
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

const devFile = async (): Promise<DevFile> => JSON.parse(await readFile(join(folder, "dev.json"), "utf8")) as DevFile;

describe("start", () => {
  beforeEach(open);
  afterEach(close);

  test.each([[["--help"]], [["--", "--help"]]])("prints its usage with %j", async (args) => {
    const help = run("start.ts", args);
    expect(await help.ended).toBe(0);
    expect(help.output()).toMatch(/--events <transport>.*"auto", "kafka",\s+"docker", "direct"/s);
  });

  test("rejects an unknown option and names it", async () => {
    const start = run("start.ts", ["--nope"]);
    expect(await start.ended).toBe(2);
    expect(start.output()).toMatch(/unknown option '--nope'[\s\S]*start --help/);
    expect(start.output()).not.toContain("    at ");
  });

  test("names the used port and the setting to change it", async () => {
    const other = createServer().listen(port, "127.0.0.1");
    await once(other, "listening");
    const start = run("start.ts", ["--events=direct"]);
    expect(await start.ended).toBe(1);
    expect(start.output()).toMatch(new RegExp(`Port ${port}[\\s\\S]*Set PORT`));
    other.close();
  });

  test("rejects an unknown event transport", async () => {
    const start = run("start.ts", ["--events=pigeon"]);
    expect(await start.ended).toBe(2);
    expect(start.output()).toContain("Allowed choices are auto, kafka, docker, direct");
  });

  test("prints valid keys, stops without leaving a process, and keeps its data for the next run", async () => {
    const first = run("start.ts", ["--events=direct"], fromSource);
    await eventually(() => expect(first.output()).toContain("Ready after"), 90_000);
    const { business, gateway_url, admin_key } = await devFile();
    for (const key of [business.api_key, admin_key]) expect(first.output()).toContain(key);
    const { pids } = JSON.parse(await readFile(join(folder, "processes.json"), "utf8")) as { pids: number[] };
    expect(pids.length).toBeGreaterThan(4);

    // A second start on the folder changes nothing, even with --fresh.
    const other = run("start.ts", ["--events=direct", "--fresh"], {
      PORT: String(await freePort()),
      SANDBOX_PORT: String(await freePort()),
    });
    expect(await other.ended).toBe(1);
    expect(other.output()).toContain("is already running on");
    expect((await request(`${gateway_url}/readyz`)).statusCode).toBe(200);

    const bootstrap = new Amana({ baseUrl: gateway_url, apiKey: admin_key });
    const { admin_key: own = "" } = await bootstrap.operatorKeys.create({ name: "Amina" });
    const operator = new Amana({ baseUrl: gateway_url, apiKey: own });
    for await (const { id, name } of bootstrap.operatorKeys.list())
      if (name === "bootstrap") await operator.operatorKeys.revoke(id);

    first.child.kill("SIGINT");
    expect(await first.ended).toBe(0);
    for (const pid of pids) expect(readProcess(pid)).toBeUndefined();
    expect(existsSync(join(folder, "dev.json"))).toBe(false);

    const second = run("start.ts", ["--events=direct"]);
    await eventually(() => expect(second.output()).toContain("Ready after"), 90_000);
    expect((await devFile()).business).toEqual(business);
    expect(second.output()).toMatch(/Operator key +revoked; use a newer key/);
    expect(second.output()).not.toContain(admin_key);
    expect(second.output()).toContain(business.api_key);
    const me = await request(`${gateway_url}/api/v1/me`, { headers: { authorization: `Bearer ${business.api_key}` } });
    expect(me.statusCode).toBe(200);
    await me.body.dump();
  }, 200_000);

  test("ends immediately and leaves no process when it is stopped during the start", async () => {
    const start = run("start.ts", ["--events=direct"]);
    await eventually(() => expect(start.output()).toContain("PostgreSQL"), 30_000);
    start.child.kill("SIGINT");
    expect(await start.ended).toBe(0);
    expect(start.output()).not.toContain("Ready after");
    const postmaster = await readFile(join(folder, "postgres", "postmaster.pid"), "utf8").catch(() => "");
    expect(postmaster).toBe("");
  }, 60_000);

  test("stops the processes of a killed run, and keeps its data unless --fresh", async () => {
    await copySystemData(folder, { withPostgres: true });
    const started = async (...args: string[]) => {
      const running = run("start.ts", ["--events=direct", ...args]);
      await eventually(() => expect(running.output()).toContain("Ready after"), 90_000);
      return { ...running, business: (await devFile()).business };
    };
    const first = await started();
    const killed = async ({ child, ended }: typeof first) => {
      const { pids } = JSON.parse(await readFile(join(folder, "processes.json"), "utf8")) as { pids: number[] };
      pids.push(Number.parseInt(await readFile(join(folder, "postgres", "postmaster.pid"), "utf8"), 10));
      child.kill("SIGKILL");
      await ended;
      return pids;
    };
    const pids = await killed(first);
    const second = await started();
    expect(second.business).toEqual(first.business);
    pids.push(...(await killed(second)));
    const third = await started("--fresh");
    expect(third.business.id).not.toBe(first.business.id);
    expect(pids.length).toBeGreaterThan(10);
    for (const pid of pids) expect(readProcess(pid)).toBeUndefined();
  }, 300_000);
});

describe("demo without a running system", () => {
  beforeEach(open);
  afterEach(close);

  test("starts a system, with Kafka if it is available, and passes", async () => {
    const demo = run("demo/demo.ts", [], fromSource);
    expect(await demo.ended, demo.output()).toBe(0);
    expect(demo.output()).toContain("The demo passed: all steps have the expected results.");
    if (process.env["CI"]) expect(demo.output()).toContain("events: kafka");
  }, 200_000);
});

describe("demo with a running system", () => {
  beforeAll(async () => {
    await open();
    await copySystemData(folder, { withPostgres: true });
    const start = run("start.ts", ["--events=direct"]);
    await eventually(() => expect(start.output()).toContain("Ready after"), 90_000);
  });
  afterAll(close);

  const browser = existsSync(chromium);
  if (!browser)
    console.warn(`\nSKIPPED: the demo in a browser. ${chromium} is not installed. Debian: apt-get install chromium\n`);
  test.runIf(browser)(
    "pays on the hosted page in a browser",
    async () => {
      const demo = run("demo/demo.ts", ["--", "--browser"]);
      expect(await demo.ended, demo.output()).toBe(0);
      expect(demo.output()).toContain("Using the running system.");
      expect(demo.output()).toContain("in a browser");
    },
    200_000,
  );

  test("fails with the unexpected response after a fault", async () => {
    await request(`http://127.0.0.1:${sandboxPort}/sandbox/faults`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ operation: "refund", mode: "error:5", times: 1 }),
    });
    const demo = run("demo/demo.ts");
    expect(await demo.ended).toBe(1);
    expect(demo.output()).toContain("refund_refused");
  }, 200_000);
});
