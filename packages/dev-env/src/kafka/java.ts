import { join } from "node:path";
import { DevEnvError } from "../dev-env-error.ts";
import { runCommand } from "../run-command.ts";

const versionMin = 17;
const timeoutMs = 10_000;

const install = `Install a Java ${versionMin} runtime or newer (Debian: apt-get install default-jre-headless; macOS: brew install openjdk).`;

/** The program `java` in JAVA_HOME if it is set, otherwise in PATH. */
export interface Java {
  program: string;
  majorVersion: number;
}

/** Throws DevEnvError if Java is missing or too old. */
export async function findJava(): Promise<Java> {
  const home = process.env["JAVA_HOME"];
  const program = home ? join(home, "bin", "java") : "java";
  const result = await runCommand(program, ["-version"], { timeoutMs });
  if (!result.ok) throw new DevEnvError(`${program} cannot be run: ${result.failure}.`, install);

  // Before Java 9 the version started with "1.".
  const majorVersion = Number(/version "(?:1\.)?(\d+)/.exec(result.output)?.[1]);
  if (!(majorVersion >= versionMin)) {
    throw new DevEnvError(`${program} is Java ${majorVersion}; Kafka needs ${versionMin} or newer.`, install);
  }
  return { program, majorVersion };
}

/** Throws DevEnvError if Maven is missing or cannot be run. */
export async function requireMaven(): Promise<void> {
  const result = await runCommand("mvn", ["-v"], { timeoutMs });
  if (!result.ok) {
    throw new DevEnvError(
      `mvn (Maven), which fetches Kafka, cannot be run: ${result.failure}.`,
      "Install Maven (Debian: apt-get install maven; macOS: brew install maven).",
    );
  }
}
