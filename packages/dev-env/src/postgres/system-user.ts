import { chown, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { DevEnvError } from "../dev-env-error.ts";
import { runCommand } from "../run-command.ts";

/** The operating-system user to run PostgreSQL as; no ids when it is the present one. */
export interface SystemUser {
  uid?: number;
  gid?: number;
}

const name = "postgres";
const timeoutMs = 10_000;

/** PostgreSQL refuses to run as root: then it is the user `postgres`, created if missing. */
export async function systemUser(): Promise<SystemUser> {
  if (process.getuid?.() !== 0) return {};
  const existing = await lookUp();
  if (existing) return existing;

  await runCommand("groupadd", ["--system", "--force", name], { timeoutMs });
  const created = await runCommand(
    "useradd",
    ["--system", "--gid", name, "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", name],
    { timeoutMs },
  );
  const user = await lookUp();
  if (user) return user;
  throw new DevEnvError(
    `PostgreSQL does not run as root, and the user ${name} could not be created (useradd: ${created.failure}).`,
    `Run this as a normal user, or create a system user named ${name}.`,
  );
}

async function lookUp(): Promise<SystemUser | undefined> {
  const [uid, gid] = await Promise.all(["-u", "-g"].map((flag) => runCommand("id", [flag, name], { timeoutMs })));
  return uid?.ok && gid?.ok ? { uid: Number(uid.output), gid: Number(gid.output) } : undefined;
}

/** Gives a file or folder to the user. */
export async function changeOwner(user: SystemUser, path: string): Promise<void> {
  if (user.uid !== undefined && user.gid !== undefined) await chown(path, user.uid, user.gid);
}

/**
 * How to run a program as the user. Root's own folders (a clone in /root, a temporary folder of
 * mode 0700) are closed to the user `postgres`; there the program keeps the one right to read past
 * folder permissions (CAP_DAC_READ_SEARCH) and nothing else of root's. Throws DevEnvError, naming
 * the folder, where the system cannot do that.
 */
export async function launcher(user: SystemUser, paths: readonly string[]): Promise<Launcher> {
  if (user.uid === undefined) return (command, args) => ({ command, args });
  const closed = await firstClosedFolder(user, paths);
  if (!closed) return (command, args) => ({ command, args, ...user });
  const rights = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    "--clear-groups",
    `--inh-caps=${readPast}`,
    `--ambient-caps=${readPast}`,
  ];
  if (!(await runCommand("setpriv", [...rights, "true"], { timeoutMs })).ok) {
    throw new DevEnvError(
      `PostgreSQL runs as the user ${name} when started by root, and that user may not enter ${closed}.`,
      `Allow it: chmod o+x ${closed}. Or run this as a normal user, or from a folder outside ${closed}.`,
    );
  }
  return (command, args) => ({ command: "setpriv", args: [...rights, command, ...args] });
}

/** A command line for spawn, with the ids to switch to where spawn has to do it. */
export type Launcher = (command: string, args: string[]) => { command: string; args: string[]; uid?: number; gid?: number };

const readPast = "+dac_read_search";

async function firstClosedFolder(user: SystemUser, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const parents: string[] = [];
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) parents.unshift(folder);
    for (const folder of parents) {
      const { mode, uid, gid } = await stat(folder);
      const executeBit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
      if ((mode & executeBit) === 0) return folder;
    }
  }
  return undefined;
}
