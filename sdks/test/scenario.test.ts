import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@amana/dev-env/free-port";
import { aBusiness, anOrder, startTestSystem, type TestSystem } from "@amana/e2e/test-system";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fault, startFaultProxy } from "./fault-proxy.ts";
import { folder, hasMypy, type Language, languages, run } from "./languages.ts";

const execute = promisify(execFile);
const path = join(folder, "scenario.json");
const scenario = JSON.parse(readFileSync(path, "utf8")) as { steps: object[]; values: Record<string, Fault> };
const { steps } = scenario;
const withoutIds = (text: string) => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>");
const byLanguage = async <T>(make: (language: Language) => Promise<T>) =>
  Object.fromEntries(await Promise.all(languages.map(async (language) => [language.name, await make(language)] as const)));

let running: TestSystem;
let dir: string;
beforeAll(async () => {
  running = await startTestSystem("direct");
  dir = await mkdtemp(join(tmpdir(), "amana-sdks-"));
});
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

test("the client libraries of all languages print the same results for the scenario, and no request takes effect twice", async () => {
  const { gatewayUrl, sandboxUrl, adminKey } = running.system;
  const outputs = await byLanguage(async (language) => {
    await using proxy = await startFaultProxy(gatewayUrl);
    const closedPort = String(await freePort());
    const nowhere = `http://127.0.0.1:${closedPort}`;
    const env = { API: proxy.url, SANDBOX: sandboxUrl, ADMIN_KEY: adminKey, NOWHERE: nowhere, CLOSED_PORT: closedPort };
    return withoutIds(await run(language, [...language.scenario, path], { env }))
      .trim()
      .split("\n");
  });
  const failedSteps = Object.entries(outputs).map(([name, lines]) => [name, lines.filter((line) => !line.startsWith("✓"))]);
  expect(Object.fromEntries(failedSteps)).toEqual(Object.fromEntries(languages.map(({ name }) => [name, []])));
  for (const [name, output] of Object.entries(outputs)) {
    expect(output, name).toHaveLength(steps.length);
    expect(output, name).toEqual(outputs["typescript"]);
  }
});

test("the client libraries create at most one payment per call during random faults, and none if they report a failure with a known outcome", async () => {
  const { gatewayUrl, sandboxUrl, adminKey } = running.system;
  // Each run has a new seed. A failure message contains the seed, so that the same faults can be
  // drawn again.
  const seed = randomInt(2 ** 31);
  const drawnFaults = drawFaults(seed);
  await byLanguage(async (language) => {
    await using proxy = await startFaultProxy(gatewayUrl);
    const plan = (faults: Fault[]) => ({ what: "faults", http: "PUT", url: `${proxy.url}/faults`, body: faults, expect: "ok" });
    const asBusiness = { as: "business", expect: "ok" };
    const drawnSteps = drawnFaults.flatMap((faults, i) => [
      plan(faults),
      { ...asBusiness, what: "create", do: "payments.create", args: [{ ...anOrder, order_ref: `drawn-${i}` }] },
      plan([]),
      { ...asBusiness, what: "list", do: "payments.list", args: [{ order_ref: `drawn-${i}` }], show: ["count"] },
    ]);
    const file = join(dir, `${language.name}.json`);
    await writeFile(file, JSON.stringify({ ...scenario, steps: [...steps.slice(0, 1), ...drawnSteps] }));
    const env = { API: proxy.url, SANDBOX: sandboxUrl, ADMIN_KEY: adminKey };
    const lines = (await run(language, [...language.scenario, file], { env })).trim().split("\n").slice(1);
    for (const [i, faults] of drawnFaults.entries()) {
      const [, outcome = "", , count = ""] = lines.slice(i * 4, i * 4 + 4);
      const createdCount = Number(count.split("count=")[1]);
      const possible = outcome.includes(": ok") ? [1] : outcome.includes("outcome unknown") ? [0, 1] : [0];
      expect(possible, `${language.name}, seed ${seed}: ${outcome} after ${JSON.stringify(faults)}`).toContain(createdCount);
    }
  });
});

/** Returns the first code block with this language tag in the README of a library. */
const blockOf = (name: string, tag: string) =>
  readFileSync(join(folder, name, "README.md"), "utf8")
    .split(`\n\`\`\`${tag}\n`)[1]
    ?.split("```")[0] ?? "";

test("the sample in the README of each client library prints the output that the README shows", async () => {
  const samples = await byLanguage(async (language) => {
    const [sample, documented] = [blockOf(language.name, language.block), blockOf(language.name, "text")];
    const cwd = join(dir, language.name);
    await installLibrary(language, cwd);
    await writeFile(join(cwd, language.sample.at(-1) ?? ""), sample);
    const business = await aBusiness(running.system, language.name);
    await business.receiver[Symbol.asyncDispose]();
    const env = { AMANA_URL: running.system.gatewayUrl, AMANA_KEY: business.key, PYTHONPATH: join(folder, "python") };
    return { documented, printed: await run(language, language.sample, { env, cwd }) };
  });
  for (const [name, { documented, printed }] of Object.entries(samples)) expect(printed, name).toBe(documented);
});

test.runIf(languages.some(({ name }) => name === "go"))("the Go library passes gofmt and go vet", async () => {
  const cwd = join(folder, "go");
  expect((await execute("gofmt", ["-l", "."], { cwd })).stdout).toBe("");
  await execute("go", ["vet", "./..."], { cwd });
});

test.runIf(hasMypy())("the Python library and its sample pass mypy, and mypy rejects a misspelt field", async () => {
  const cwd = join(folder, "python");
  // The library returns parsed JSON, which has the type Any, so mypy must permit this.
  const options = ["--strict", "--no-warn-return-any", "--python-version", "3.10", "--cache-dir", join(dir, "mypy")];
  const check = (...what: string[]) => execute("mypy", [...options, ...what], { cwd });
  const sample = blockOf("python", "python");
  await check("amana");
  await check("-c", sample);
  await expect(check("-c", sample.replace('payment["amount"]', 'payment["amuont"]'))).rejects.toMatchObject({
    stdout: expect.stringMatching(/has no key "amuont"/),
  });
});

/** Draws ten sequences of up to five faults. */
function drawFaults(seed: number): Fault[][] {
  const problem = (status: number, code: string): Fault => ({
    status,
    headers: { "content-type": "application/problem+json", "retry-after": "0" },
    body: { code },
  });
  const faults: Fault[] = ["lose_answer", "lose_answer", "cut_answer", "drop", problem(401, "api_key_revoked")];
  faults.push(problem(429, "rate_limited"), problem(503, "overloaded"), problem(500, "internal_error"));
  faults.push(scenario.values["HTML"] as Fault, scenario.values["FOREIGN"] as Fault, { status: 404, body: "No route" });
  let state = seed;
  const nextInt = (end: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % end;
  };
  return Array.from({ length: 10 }, () => Array.from({ length: nextInt(6) }, () => faults[nextInt(faults.length)] as Fault));
}

/** Creates a project folder, and installs the library in it like the tools of the language do. */
async function installLibrary({ name }: Language, cwd: string): Promise<void> {
  await mkdir(cwd);
  if (name === "typescript") {
    const packageFolder = join(cwd, "node_modules", "@amana", "client");
    await mkdir(packageFolder, { recursive: true });
    await execute("npx", ["--yes", "pnpm@12", "pack", "--pack-destination", cwd], { cwd: join(folder, name) });
    await execute("tar", ["-xzf", join(cwd, "amana-client-0.1.0.tgz"), "-C", packageFolder, "--strip-components=1"]);
  }
  const autoload = `<?php require '${join(folder, name, "src", "amana.php")}';`;
  if (name === "php") {
    await mkdir(join(cwd, "vendor"));
    await writeFile(join(cwd, "vendor", "autoload.php"), autoload);
  }
  const module = `module sample\n\ngo 1.24\n\nrequire amana v0.0.0\n\nreplace amana => ${join(folder, name)}\n`;
  if (name === "go") await writeFile(join(cwd, "go.mod"), module);
}
