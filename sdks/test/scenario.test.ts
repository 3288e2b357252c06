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

test("all libraries have the same results in the scenario, and no request takes effect twice", async () => {
  const { gatewayUrl, sandboxUrl, adminKey } = running.system;
  const stories = await byLanguage(async (language) => {
    await using proxy = await startFaultProxy(gatewayUrl);
    const closedPort = String(await freePort());
    const nowhere = `http://127.0.0.1:${closedPort}`;
    const env = { API: proxy.url, SANDBOX: sandboxUrl, ADMIN_KEY: adminKey, NOWHERE: nowhere, CLOSED_PORT: closedPort };
    return withoutIds(await run(language, [...language.scenario, path], { env }))
      .trim()
      .split("\n");
  });
  const wrong = Object.entries(stories).map(([name, lines]) => [name, lines.filter((line) => !line.startsWith("✓"))]);
  expect(Object.fromEntries(wrong)).toEqual(Object.fromEntries(languages.map(({ name }) => [name, []])));
  for (const [name, story] of Object.entries(stories)) {
    expect(story, name).toHaveLength(steps.length);
    expect(story, name).toEqual(stories["typescript"]);
  }
});

test("with random faults a payment is created at most once, and none is created after a final error", async () => {
  const { gatewayUrl, sandboxUrl, adminKey } = running.system;
  // A new one each time; the message of a failure names it, and `draw` makes the same of it.
  const seed = randomInt(2 ** 31);
  const drawn = draw(seed);
  await byLanguage(async (language) => {
    await using proxy = await startFaultProxy(gatewayUrl);
    const plan = (faults: Fault[]) => ({ what: "faults", http: "PUT", url: `${proxy.url}/faults`, body: faults, expect: "ok" });
    const told = { as: "business", expect: "ok" };
    const drawnSteps = drawn.flatMap((faults, i) => [
      plan(faults),
      { ...told, what: "create", do: "payments.create", args: [{ ...anOrder, order_ref: `drawn-${i}` }] },
      plan([]),
      { ...told, what: "list", do: "payments.list", args: [{ order_ref: `drawn-${i}` }], show: ["count"] },
    ]);
    const file = join(dir, `${language.name}.json`);
    await writeFile(file, JSON.stringify({ ...scenario, steps: [...steps.slice(0, 1), ...drawnSteps] }));
    const env = { API: proxy.url, SANDBOX: sandboxUrl, ADMIN_KEY: adminKey };
    const lines = (await run(language, [...language.scenario, file], { env })).trim().split("\n").slice(1);
    for (const [i, faults] of drawn.entries()) {
      const [, told = "", , count = ""] = lines.slice(i * 4, i * 4 + 4);
      const made = Number(count.split("count=")[1]);
      const possible = told.includes(": ok") ? [1] : told.includes("outcome unknown") ? [0, 1] : [0];
      expect(possible, `${language.name}, seed ${seed}: ${told} after ${JSON.stringify(faults)}`).toContain(made);
    }
  });
});

/** The first block of its kind in the README of a library. */
const blockOf = (name: string, word: string) =>
  readFileSync(join(folder, name, "README.md"), "utf8")
    .split(`\n\`\`\`${word}\n`)[1]
    ?.split("```")[0] ?? "";

test("the sample of each README prints the output that the README shows", async () => {
  const samples = await byLanguage(async (language) => {
    const [sample, said] = [blockOf(language.name, language.block), blockOf(language.name, "text")];
    const cwd = join(dir, language.name);
    await asInstalled(language, cwd);
    await writeFile(join(cwd, language.sample.at(-1) ?? ""), sample);
    const business = await aBusiness(running.system, language.name);
    await business.receiver[Symbol.asyncDispose]();
    const env = { AMANA_URL: running.system.gatewayUrl, AMANA_KEY: business.key, PYTHONPATH: join(folder, "python") };
    return { said, printed: await run(language, language.sample, { env, cwd }) };
  });
  for (const [name, { said, printed }] of Object.entries(samples)) expect(printed, name).toBe(said);
});

test.runIf(languages.some(({ name }) => name === "go"))("the Go library is as gofmt and go vet want it", async () => {
  const cwd = join(folder, "go");
  expect((await execute("gofmt", ["-l", "."], { cwd })).stdout).toBe("");
  await execute("go", ["vet", "./..."], { cwd });
});

test.runIf(hasMypy())(
  "the Python library and its README's sample are well typed, and a field that is misspelt is not",
  async () => {
    const cwd = join(folder, "python");
    // What JSON stands for is taken at the document's word.
    const options = ["--strict", "--no-warn-return-any", "--python-version", "3.10", "--cache-dir", join(dir, "mypy")];
    const check = (...what: string[]) => execute("mypy", [...options, ...what], { cwd });
    const sample = blockOf("python", "python");
    await check("amana");
    await check("-c", sample);
    await expect(check("-c", sample.replace('payment["amount"]', 'payment["amuont"]'))).rejects.toMatchObject({
      stdout: expect.stringMatching(/has no key "amuont"/),
    });
  },
);

/** Ten ways that a request may go, each of up to five faults. */
function draw(seed: number): Fault[][] {
  const problem = (status: number, code: string): Fault => ({
    status,
    headers: { "content-type": "application/problem+json", "retry-after": "0" },
    body: { code },
  });
  const faults: Fault[] = ["lose_answer", "lose_answer", "cut_answer", "drop", problem(401, "api_key_revoked")];
  faults.push(problem(429, "rate_limited"), problem(503, "overloaded"), problem(500, "internal_error"));
  faults.push(scenario.values["HTML"] as Fault, scenario.values["FOREIGN"] as Fault, { status: 404, body: "No route" });
  let state = seed;
  const below = (end: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % end;
  };
  return Array.from({ length: 10 }, () => Array.from({ length: below(6) }, () => faults[below(faults.length)] as Fault));
}

/** A folder of a user's, in which the library is there as its language's own tools put it there. */
async function asInstalled({ name }: Language, cwd: string): Promise<void> {
  await mkdir(cwd);
  if (name === "typescript") {
    const place = join(cwd, "node_modules", "@amana", "client");
    await mkdir(place, { recursive: true });
    await execute("npx", ["--yes", "pnpm@12", "pack", "--pack-destination", cwd], { cwd: join(folder, name) });
    await execute("tar", ["-xzf", join(cwd, "amana-client-0.1.0.tgz"), "-C", place, "--strip-components=1"]);
  }
  const autoload = `<?php require '${join(folder, name, "src", "amana.php")}';`;
  if (name === "php") {
    await mkdir(join(cwd, "vendor"));
    await writeFile(join(cwd, "vendor", "autoload.php"), autoload);
  }
  const module = `module sample\n\ngo 1.24\n\nrequire amana v0.0.0\n\nreplace amana => ${join(folder, name)}\n`;
  if (name === "go") await writeFile(join(cwd, "go.mod"), module);
}
