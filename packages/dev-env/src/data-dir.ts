import { constants } from "node:fs";
import { access, mkdir, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { DevEnvError } from "./dev-env-error.ts";
import { readJson } from "./json-file.ts";
import { stopLeftovers } from "./leftovers.ts";
import type { Secrets } from "./secrets.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const marker = "amana-data";
const markerText = "Amana created this folder. `start --fresh` deletes the data in it.\n";
/** Entries that `--fresh` keeps: the marker, and results of attack programs. */
const keptNames = new Set([marker, "matrix"]);
const dataNames = new Set([
  "postgres",
  "kafka",
  "logs",
  "sandbox",
  "cache",
  "secrets.json",
  "migrated.json",
  "processes.json",
  "dev.json",
]);
const otherFolderAdvice = "Set AMANA_DIR to an empty folder, or to one that does not exist.";
const listedMax = 5;

/**
 * Makes `dir` the data folder of a system and returns its real path. Creates a missing folder, and
 * adds the marker to an empty folder or to a folder of an earlier version. Throws DevEnvError for
 * every other folder, so that data and other files do not mix.
 */
export async function openDataDir(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true }).catch(rejectFolder(dir));
  const realDir = await requireUsable(dir);
  if (!(await entriesOf(realDir)).includes(marker)) {
    await writeFile(join(realDir, marker), markerText).catch(rejectFolder(dir));
  }
  return realDir;
}

/**
 * Deletes the data of a system. Throws DevEnvError, and deletes nothing, when a system runs on the
 * folder or when the folder has files that Amana did not create.
 */
export async function removeData(dir: string): Promise<void> {
  if ((await stat(dir).catch(() => undefined)) === undefined) return;
  const realDir = await requireUsable(dir);
  const entries = await entriesOf(realDir);
  const foreign = entries.filter((name) => !keptNames.has(name) && !isData(name));
  if (foreign.length > 0) {
    throw new DevEnvError(
      `--fresh deletes nothing: ${dir} contains files that Amana did not create (${formatNames(foreign)}).`,
      "Move these files elsewhere, or set AMANA_DIR to another folder.",
    );
  }
  await stopLeftovers(realDir);
  for (const name of entries.filter(isData)) await rm(join(realDir, name), { recursive: true, force: true });
}

/**
 * Returns whether Amana creates files of this name. An interrupted write adds the suffix .new or
 * .new-password.
 */
const isData = (name: string) => dataNames.has(name.replace(/\.new(-password)?$/, ""));

/** Returns the real path. Throws DevEnvError if the folder cannot be a data folder of Amana. */
async function requireUsable(dir: string): Promise<string> {
  const folder = await stat(dir).catch(rejectFolder(dir));
  if (!folder.isDirectory()) throw new DevEnvError(`${dir} is a file, not a folder.`, otherFolderAdvice);
  const realDir = await realpath(dir);
  for (const [name, path] of [
    ["the project", root],
    ["your home folder", homedir()],
  ] as const) {
    const inside = relative(realDir, await realpath(path).catch(() => path));
    if (inside !== ".." && !inside.startsWith(`..${sep}`)) {
      throw new DevEnvError(
        `${dir} cannot be the data folder: it ${inside === "" ? "is" : "contains"} ${name}.`,
        otherFolderAdvice,
      );
    }
  }
  await access(realDir, constants.R_OK | constants.W_OK | constants.X_OK).catch(rejectFolder(dir));
  const entries = await entriesOf(realDir);
  if (entries.length === 0 || entries.includes(marker) || (await isOfEarlierVersion(realDir))) return realDir;
  throw new DevEnvError(`${dir} contains files that Amana did not create (${formatNames(entries)}).`, otherFolderAdvice);
}

/**
 * Returns whether an earlier version, which wrote no marker, created the folder. The default folder
 * always counts as Amana's.
 */
async function isOfEarlierVersion(real: string): Promise<boolean> {
  if (real === join(await realpath(root), ".amana")) return true;
  const secrets = await readJson<Partial<Secrets>>(join(real, "secrets.json")).catch(() => undefined);
  return secrets?.adminKey?.startsWith("ak_") === true && secrets.databasePassword !== undefined;
}

const entriesOf = (dir: string) => readdir(dir).catch(rejectFolder(dir));

/** Returns a handler that throws a DevEnvError for a file system error of the data folder. */
const rejectFolder = (dir: string) => (error: NodeJS.ErrnoException) => {
  const isFile = error.code === "ENOTDIR" || error.code === "EEXIST";
  const reason = isFile ? `, because this path or ${dirname(dir)} is a file.` : `: ${error.message}`;
  throw new DevEnvError(`${dir} cannot be the data folder${reason}`, otherFolderAdvice, { cause: error });
};

function formatNames(names: readonly string[]): string {
  const moreText = names.length > listedMax ? ` and ${names.length - listedMax} more` : "";
  return `${names.slice(0, listedMax).join(", ")}${moreText}`;
}
