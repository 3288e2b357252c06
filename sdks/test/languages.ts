import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";

export const folder = join(import.meta.dirname, "..");

/** A language with a client library, and the commands that run its programs. */
export interface Language {
  readonly name: string;
  readonly program: string;
  /** Arguments of a command that succeeds if the language is installed. */
  readonly version: readonly string[];
  /** Arguments in front of the scenario's path. */
  readonly scenario: readonly string[];
  /** Language tag of the sample in the README. */
  readonly block: string;
  /** Arguments that run the sample. The last argument is the sample's file. */
  readonly sample: readonly string[];
}

const allLanguages: readonly Language[] = [
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

/** Returns whether mypy is installed. Prints a notice if it is not. */
export function hasMypy(): boolean {
  const hasCommand = isInstalled({ program: "mypy", version: ["--version"] });
  if (!hasCommand) process.stderr.write("\nSKIPPED the type checks of the Python client, because mypy is not installed.\n\n");
  return hasCommand;
}

/**
 * Languages whose tests fail, and are not skipped, if the language is not installed. Example:
 * `REQUIRED_LANGUAGES=python,go`.
 */
const required = (process.env["REQUIRED_LANGUAGES"] ?? "").split(",");

/** The installed and the required languages. Prints a notice for each other language. */
export const languages = allLanguages.filter((language) => {
  if (required.includes(language.name) || isInstalled(language)) return true;
  process.stderr.write(`\nSKIPPED the tests of the ${language.name} client, because ${language.name} is not installed.\n\n`);
  return false;
});

/** Runs a language's program in the language's folder or in `cwd`. Throws if the program fails. */
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
