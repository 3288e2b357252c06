import { join } from "node:path";
import { DevEnvError } from "../dev-env-error.ts";
import { runCommand } from "../run-command.ts";

const versionMin = 17;
const timeoutMs = 10_000;

const install = `Install a Java ${versionMin} runtime or newer (Debian: apt-get install default-jre-headless; macOS: brew install openjdk).`;

/** The Java program to start: of JAVA_HOME if that is set, else of the PATH. */
export interface Java {
  program: string;
  majorVersion: number;
}

/** Throws DevEnvError when there is no Java, or one too old. */
export async function findJava(): Promise<Java> {
  const home = process.env["JAVA_HOME"];
  const program = home ? join(home, "bin", "java") : "java";
  const result = await runCommand(program, ["-version"], { timeoutMs });
  if (!result.ok) throw new DevEnvError(`${program} does not run: ${result.failure}.`, install);

  // Before Java 9 the version began with "1.".
  const majorVersion = Number(/version "(?:1\.)?(\d+)/.exec(result.output)?.[1]);
  if (!(majorVersion >= versionMin)) {
    throw new DevEnvError(`${program} is Java ${majorVersion}; Kafka needs ${versionMin} or newer.`, install);
  }
  return { program, majorVersion };
}

/** Throws DevEnvError when Maven is missing or does not run. */
export async function requireMaven(): Promise<void> {
  const result = await runCommand("mvn", ["-v"], { timeoutMs });
  if (!result.ok) {
    throw new DevEnvError(
      `mvn (Maven), which fetches Kafka, does not run: ${result.failure}.`,
      "Install Maven (Debian: apt-get install maven; macOS: brew install maven).",
    );
  }
}
