/** Generates src/gen from proto/. With --check it generates into a temporary folder and compares instead. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const packageDir = join(import.meta.dirname, "..");
const protoDir = join(packageDir, "..", "..", "proto");
const generatedDir = join(packageDir, "src", "gen");
const timeout = 60_000;

const buf = (args: string[], env: NodeJS.ProcessEnv = process.env) =>
  execFileSync("buf", args, { cwd: protoDir, stdio: "inherit", timeout, env });

if (process.argv.includes("--check")) {
  buf(["lint"]);
  buf(["format", "--diff", "--exit-code"]);
  checkBreaking();
  checkGenerated();
} else {
  buf(["format", "--write"]);
  buf(["generate"]);
}

function checkGenerated() {
  const dir = mkdtempSync(join(tmpdir(), "amana-contracts-"));
  try {
    // The plugin's output path is "../packages/contracts/src/gen", seen from this folder.
    buf(["generate", "--output", join(dir, "proto")]);
    const fresh = files(join(dir, "packages", "contracts", "src", "gen"));
    const kept = files(generatedDir);
    const names = new Set([...fresh.keys(), ...kept.keys()]);
    const different = [...names].filter((name) => fresh.get(name) !== kept.get(name));
    if (different.length > 0) {
      console.error(`Generated code differs from proto/: ${different.join(", ")}\nRun: npx --yes pnpm@12 generate`);
      process.exit(1);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Compares the contracts with those of the last commit on main, where there is one to compare with. */
function checkBreaking() {
  const root = join(protoDir, "..");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, timeout, stdio: ["ignore", "pipe", "ignore"] });
  const base = ["origin/main", "main", "HEAD"].find((name) => {
    try {
      git("cat-file", "-e", `${name}:proto/buf.yaml`);
      return true;
    } catch {
      return false;
    }
  });
  if (base === undefined) return console.log("no earlier contracts to compare with");
  const dir = mkdtempSync(join(tmpdir(), "amana-proto-"));
  try {
    const archive = join(dir, "proto.tar");
    git("archive", "--format=tar", `--output=${archive}`, base, "proto");
    buf(["breaking", "--against", `${archive}#subdir=proto`]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function files(dir: string): Map<string, string> {
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  return new Map(names.map((name) => [name, readFileSync(join(dir, name), "utf8")]));
}
