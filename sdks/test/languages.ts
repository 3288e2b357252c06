import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";

export const folder = join(import.meta.dirname, "..");

/** A language with a library, and how its programs are run. */
export interface Language {
  readonly name: string;
  readonly program: string;
  /** What tells that it is installed. */
  readonly version: readonly string[];
  /** Arguments in front of the scenario's path. */
  readonly scenario: readonly string[];
  /** How a README marks its sample, and how that is run; the last argument is its file. */
  readonly block: string;
  readonly sample: readonly string[];
}

const all: readonly Language[] = [
  {
    name: "typescript",
    program: process.execPath,
    version: ["--version"],
    scenario: ["test/scenario.ts"],
    block: "ts",
    sample: ["sample.ts"],
  },
  {
    name: "python",
    program: "python3",
    version: ["--version"],
    scenario: ["-B", "test/scenario.py"],
    block: "python",
    sample: ["-B", "sample.py"],
  },
  {
    name: "go",
    program: "go",
    version: ["version"],
    scenario: ["run", "./scenario"],
    block: "go",
    sample: ["run", "sample.go"],
  },
  {
    name: "php",
    program: "php",
    version: ["-r", "exit(PHP_VERSION_ID >= 80200 && extension_loaded('curl') ? 0 : 1);"],
    scenario: ["test/scenario.php"],
    block: "php",
    sample: ["sample.php"],
  },
];

const isInstalled = ({ program, version }: Pick<Language, "program" | "version">) => {
  try {
    return execFileSync(program, [...version], { stdio: "ignore" }) === null;
  } catch {
    return false;
  }
};

/** Whether types of Python can be checked. Says loudly when not. */
export function hasMypy(): boolean {
  const isThere = isInstalled({ program: "mypy", version: ["--version"] });
  if (!isThere) process.stderr.write("\nLEFT OUT: the types of the python client. mypy is not installed.\n\n");
  return isThere;
}

/** Required ones are there, or their tests fail: `REQUIRED_LANGUAGES=python,go`. */
const required = (process.env["REQUIRED_LANGUAGES"] ?? "").split(",");

/** What is installed. Says loudly what is not. */
export const languages = all.filter((language) => {
  if (required.includes(language.name) || isInstalled(language)) return true;
  process.stderr.write(`\nLEFT OUT: the ${language.name} client. ${language.name} is not installed.\n\n`);
  return false;
});

/** Runs a program of a language, in its own folder or `cwd`. Answers what it printed, or throws. */
export async function run(
  { name, program }: Language,
  args: readonly string[],
  { env, cwd = join(folder, name) }: { env: Record<string, string>; cwd?: string },
): Promise<string> {
  return await new Promise((resolve, reject) => {
    const options = {
      cwd,
      env: { ...process.env, GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "", GOWORK: "off", ...env },
      timeout: 500_000,
    };
    const child = execFile(program, [...args], options, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stdout}\n${stderr}`)) : resolve(stdout),
    );
    child.stdin?.end();
  });
}
