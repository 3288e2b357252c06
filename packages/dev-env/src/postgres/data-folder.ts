import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevEnvError } from "../dev-env-error.ts";
import { runCommand } from "../run-command.ts";
import type { PostgresPrograms } from "./postgres-programs.ts";
import { changeOwner, type Launcher, type SystemUser } from "./system-user.ts";

export const superuser = "postgres";

const majorVersion = "18";
/** In the data folder, so that the two are moved and removed together. */
const passwordFile = "superuser-password";
const initdbTimeoutMs = 120_000;

/** The server sees no client settings and no language of the caller. */
export function postgresEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: "C", TZ: "UTC" };
}

/** How to begin anew with a data folder that cannot be used. */
export function removeFolder(dataDir: string): string {
  return `To begin anew, without the data in it: rm -rf ${dataDir}`;
}

/**
 * Makes the data folder if it is missing or empty, and answers the superuser's password. Throws
 * DevEnvError for a folder that holds something else or belongs to another major version.
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
      `${dataDir} is not a PostgreSQL data folder, or a broken one: it holds no version (PG_VERSION).`,
      removeFolder(dataDir),
    );
  }
  if (version !== majorVersion) {
    throw new DevEnvError(
      `${dataDir} was made by PostgreSQL ${version}; this is PostgreSQL ${majorVersion}, which cannot read it.`,
      `To keep the data, export it with PostgreSQL ${version} (pg_dumpall). ${removeFolder(dataDir)}`,
    );
  }
  const password = await readText(join(dataDir, passwordFile));
  if (password === "") {
    throw new DevEnvError(
      `${dataDir} was not made by this program: the superuser's password (${passwordFile}) is missing from it.`,
      removeFolder(dataDir),
    );
  }
  return password;
}

/** Built beside its place and renamed: an interrupted start leaves no half of it. */
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
    ...(durable ? [] : ["--no-sync"]),
  ]);
  const initdb = await runCommand(command, args, { timeoutMs: initdbTimeoutMs, cwd: "/", env: postgresEnv(), signal, ...ids });
  if (!initdb.ok) {
    throw new DevEnvError(
      `A PostgreSQL data folder could not be made at ${dataDir}: ${initdb.failure}`,
      "Check that the disk has room (about 60 MB), and that this is a Linux with glibc (not Alpine) or macOS.",
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
      "Start as the user who made it, remove it, or choose another folder.",
      { cause: error },
    );
  }
}

/** Empty when there is no such file. */
const readText = async (path: string) => (await readFile(path, "utf8").catch(() => "")).trim();
