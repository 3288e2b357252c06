import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DevEnvError } from "../dev-env-error.ts";
import type { ProgressStep } from "../progress.ts";
import { type CommandResult, runCommand } from "../run-command.ts";
import { requireMaven } from "./java.ts";
import { kafkaVersion } from "./kafka-properties.ts";

const pom = fileURLToPath(new URL("pom.xml", import.meta.url));
const fetchTimeoutMs = 5 * 60_000;

/** Returns the user's cache folder of Amana, in XDG_CACHE_HOME or ~/.cache. */
export function defaultCacheDir(): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "amana");
}

/**
 * Returns the folder with Kafka's jar files. Maven fetches them on first use (44 MB) into another
 * folder, which is then renamed. The folder is therefore complete if it exists, even when two
 * processes fetch concurrently. Throws DevEnvError if Maven is missing or cannot fetch the files.
 */
export async function fetchKafkaJars(step: ProgressStep, cacheDir: string, signal?: AbortSignal): Promise<string> {
  // The digest distinguishes two versions of pom.xml with the same version of Kafka.
  const digest = createHash("sha256")
    .update(await readFile(pom))
    .digest("hex")
    .slice(0, 8);
  const folder = join(cacheDir, `kafka-${kafkaVersion}-${digest}`);
  if (existsSync(folder)) return folder;

  await requireMaven();
  step.update(`fetching Kafka ${kafkaVersion} (44 MB, once)`);
  await mkdir(cacheDir, { recursive: true });
  const fetched = await mkdtemp(`${folder}.new-`);
  try {
    const result = await runCommand(
      "mvn",
      ["-q", "-B", "-f", pom, "dependency:copy-dependencies", `-DoutputDirectory=${fetched}`],
      { timeoutMs: fetchTimeoutMs, signal },
    );
    if (!result.ok) {
      throw new DevEnvError(
        `Maven could not fetch Kafka ${kafkaVersion}: ${firstError(result)}`,
        "Check the network, and the mirror and proxy in Maven's settings.xml, then try again.",
      );
    }
    await rename(fetched, folder).catch((error) => {
      // The rename fails if another process has already created the folder.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(fetched, { recursive: true, force: true });
  }
  return folder;
}

/** Returns Maven's first error line, which has the cause. The next lines list Maven's options. */
function firstError({ output, failure }: CommandResult): string {
  return /^\[ERROR\] (.+)$/m.exec(output)?.[1] ?? failure;
}
