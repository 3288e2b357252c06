import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const programs = {
  start: "packages/dev-env/src/start.ts",
  demo: "packages/dev-env/src/demo/demo.ts",
  test: "packages/testing/src/run.ts",
  bench: "bench/src/bench.ts",
  chaos: "chaos/src/chaos.ts",
} as const;

async function run(name: keyof typeof programs, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [programs[name], ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  expect(out + error).not.toMatch(/^ {4}at /m);
  return { code, out, error };
}

const names = Object.keys(programs) as (keyof typeof programs)[];

test.each(names)("the command `pnpm %s --help` prints its usage and exits with code 0", async (name) => {
  const { code, out } = await run(name, ["--", "--help"]);
  expect(out).toContain(`Usage: npx --yes pnpm@12 ${name} `);
  expect(code).toBe(0);
});

test.each(names)("the command `pnpm %s` exits with code 2 for an unknown option, and prints the option's name", async (name) => {
  const { code, error } = await run(name, ["--unknown"]);
  expect(error).toMatch(new RegExp(`unknown option '--unknown'[\\s\\S]*See: npx --yes pnpm@12 ${name} --help`));
  expect(code).toBe(2);
});

test.each([
  ["bench", "webhooks"],
  ["chaos", "refunds"],
] as const)("the command `pnpm %s` without arguments lists its programs and exits with code 2", async (name, program) => {
  const { code, error } = await run(name, []);
  expect(error).toContain(program);
  expect(code).toBe(2);
});

test.each([
  ["bench", ["reads", "--rounds", "many"]],
  ["chaos", ["matrix", "--schedule", "{}"]],
  ["start", ["--events=pigeon"]],
] as const)("the command `pnpm %s` with the invalid arguments %j exits with code 2", async (name, args) => {
  expect((await run(name, args)).code).toBe(2);
});

test("`pnpm test` exits with code 2 and runs no test when one of its arguments matches no test file", async () => {
  const { code, out, error } = await run("test", ["kafka", "nosuch"]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(error).toContain("no test file matches nosuch");
});

test("`pnpm start` rejects equal values of PORT and SANDBOX_PORT before it starts any process", async () => {
  const { code, error } = await run("start", [], { PORT: "28080", SANDBOX_PORT: "28080", AMANA_DIR: "" });
  expect(error).toMatch(/PORT and SANDBOX_PORT are both 28080[\s\S]*Set one of them/);
  expect(error).not.toContain("PostgreSQL");
  expect(code).toBe(1);
});
