/**
 * Generates src/gen from proto/. With --check, the script generates into a temporary folder,
 * compares the result with src/gen, and checks for breaking changes since the last release. With
 * --release, the script stores the current contracts as the last release.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const packageDir = join(import.meta.dirname, "..");
const protoDir = join(packageDir, "..", "..", "proto");
const generatedDir = join(packageDir, "src", "gen");
const released = join(packageDir, "released.binpb");
const timeout = 300_000;

const buf = (args: string[], env: NodeJS.ProcessEnv = process.env) =>
  execFileSync("buf", args, { cwd: protoDir, stdio: "inherit", timeout, env });

if (process.argv.includes("--check")) {
  buf(["lint"]);
  buf(["format", "--diff", "--exit-code"]);
  buf(["breaking", "--against", released]);
  checkGenerated();
} else if (process.argv.includes("--release")) {
  buf(["build", "--exclude-source-info", "--output", released]);
} else {
  buf(["format", "--write"]);
  buf(["generate"]);
}

function checkGenerated() {
  const dir = mkdtempSync(join(tmpdir(), "amana-contracts-"));
  try {
    // The plugin's output path is "../packages/contracts/src/gen", relative to this folder.
    buf(["generate", "--output", join(dir, "proto")]);
    const expected = files(join(dir, "packages", "contracts", "src", "gen"));
    const actual = files(generatedDir);
    const names = new Set([...expected.keys(), ...actual.keys()]);
    const different = [...names].filter((name) => expected.get(name) !== actual.get(name));
    if (different.length > 0) {
      console.error(`Generated code differs from proto/: ${different.join(", ")}\nRun: npx --yes pnpm@12 generate`);
      process.exit(1);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function files(dir: string): Map<string, string> {
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  return new Map(names.map((name) => [name, readFileSync(join(dir, name), "utf8")]));
}
