import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevEnvError } from "../dev-env-error.ts";
import { runCommand } from "../run-command.ts";
import type { PostgresPrograms } from "./postgres-programs.ts";
import { changeOwner, type Launcher, type SystemUser } from "./system-user.ts";

export const superuser = "postgres";

const majorVersion = "18";
/**
 * File with the superuser's password. It is in the data folder, so that the password and the data
 * are moved and removed together.
 */
const passwordFile = "superuser-password";
const initdbTimeoutMs = 120_000;

/** Returns the environment without client settings (PG…) and without the user's locale. */
export function postgresEnv(): NodeJS.ProcessEnv {
  const keptVariables = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(keptVariables), LC_ALL: "C", TZ: "UTC" };
}

/** Returns the next step for an unusable data folder. */
export function removalAdvice(dataDir: string): string {
  return `To delete its data and start again: rm -rf ${dataDir}`;
}

/**
 * Creates the data folder if it is missing or empty, and returns the superuser's password. Throws
 * DevEnvError for a folder with other files or of another major version.
 */
export async function prepareDataFolder(
  dataDir: string,
  programs: PostgresPrograms,
  as: { user: SystemUser; launch: Launcher; durable: boolean; signal: AbortSignal | undefined },
): Promise<string> {
  if (await isMissingOrEmpty(dataDir)) return initialise(dataDir, programs, as);

  const version = await readText(join(dataDir, "PG_VERSION"));
  if (version === "") {
    throw new DevEnvError(
      `${dataDir} is not a PostgreSQL data folder, or is damaged: it has no version (PG_VERSION).`,
      removalAdvice(dataDir),
    );
  }
  if (version !== majorVersion) {
    throw new DevEnvError(
      `${dataDir} was created by PostgreSQL ${version}. PostgreSQL ${majorVersion} cannot read it.`,
      `To keep the data, export it with PostgreSQL ${version} (pg_dumpall). ${removalAdvice(dataDir)}`,
    );
  }
  const password = await readText(join(dataDir, passwordFile));
  if (password === "") {
    throw new DevEnvError(
      `${dataDir} was not created by this program: it has no superuser's password (${passwordFile}).`,
      removalAdvice(dataDir),
    );
  }
  return password;
}

/**
 * Creates the folder under a temporary name and then renames it. A folder with the final name is
 * therefore always complete.
 */
async function initialise(
  dataDir: string,
  programs: PostgresPrograms,
  { user, launch, durable, signal }: Parameters<typeof prepareDataFolder>[2],
): Promise<string> {
  const folder = `${dataDir}.new`;
  const pwfile = `${dataDir}.new-password`;
  const password = randomBytes(24).toString("base64url");

  await rm(folder, { recursive: true, force: true });
  await rm(pwfile, { force: true });
  await mkdir(folder, { mode: 0o700 });
  await writeFile(pwfile, `${password}\n`, { mode: 0o600 });
  await changeOwner(user, folder);
  await changeOwner(user, pwfile);

  const { command, args, ...ids } = launch(programs.initdb, [
    ...["-D", folder, `--username=${superuser}`, `--pwfile=${pwfile}`, "--auth=scram-sha-256"],
    ...["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-instructions"],
    // Small segments of the write-ahead log, because tests copy the folder.
    ...(durable ? [] : ["--no-sync", "--wal-segsize=1"]),
  ]);
  const initdb = await runCommand(command, args, { timeoutMs: initdbTimeoutMs, cwd: "/", env: postgresEnv(), signal, ...ids });
  if (!initdb.ok) {
    throw new DevEnvError(
      `The PostgreSQL data folder ${dataDir} could not be created: ${initdb.failure}`,
      "Check that 60 MB of disk space are free and that the system is Linux with glibc (not Alpine) or macOS.",
    );
  }
  await rename(pwfile, join(folder, passwordFile));
  await rename(folder, dataDir);
  return password;
}

async function isMissingOrEmpty(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return true;
    throw new DevEnvError(
      `${folder} cannot be opened (${code}): it is a file, or belongs to another user.`,
      "Run the command as the user who created it, remove it, or choose another folder.",
      { cause: error },
    );
  }
}

/** Reads a file. Returns an empty text if the file cannot be read. */
const readText = async (path: string) => (await readFile(path, "utf8").catch(() => "")).trim();
