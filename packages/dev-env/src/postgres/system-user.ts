import { chown, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { DevEnvError } from "../dev-env-error.ts";
import { runCommand } from "../run-command.ts";

/** Operating-system user that runs PostgreSQL. Without ids, the current user runs PostgreSQL. */
export interface SystemUser {
  uid?: number;
  gid?: number;
}

const name = "postgres";
const timeoutMs = 10_000;

/**
 * Returns the current user. Returns the user `postgres` instead of root, because PostgreSQL does
 * not run as root.
 */
export async function systemUser(): Promise<SystemUser> {
  if (process.getuid?.() !== 0) return {};
  const existing = await findUser();
  if (existing) return existing;

  await runCommand("groupadd", ["--system", "--force", name], { timeoutMs });
  const created = await runCommand(
    "useradd",
    ["--system", "--gid", name, "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", name],
    { timeoutMs },
  );
  const user = await findUser();
  if (user) return user;
  throw new DevEnvError(
    `PostgreSQL does not run as root, and the user ${name} could not be created (useradd: ${created.failure}).`,
    `Run the command as a normal user, or create a system user named ${name}.`,
  );
}

async function findUser(): Promise<SystemUser | undefined> {
  const [uid, gid] = await Promise.all(["-u", "-g"].map((flag) => runCommand("id", [flag, name], { timeoutMs })));
  return uid?.ok && gid?.ok ? { uid: Number(uid.output), gid: Number(gid.output) } : undefined;
}

export async function changeOwner(user: SystemUser, path: string): Promise<void> {
  if (user.uid !== undefined && user.gid !== undefined) await chown(path, user.uid, user.gid);
}

/**
 * Returns a function that builds the command line to run a program as the user. If the user cannot
 * enter a parent folder of `paths` (such as /root), the program keeps root's capability to enter
 * all folders (CAP_DAC_READ_SEARCH). If the system cannot grant this capability, throws a
 * DevEnvError that names the folder.
 */
export async function launcher(user: SystemUser, paths: readonly string[]): Promise<Launcher> {
  if (user.uid === undefined) return (command, args) => ({ command, args });
  const closedFolder = await firstClosedFolder(user, paths);
  if (!closedFolder) return (command, args) => ({ command, args, ...user });
  const rights = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    "--clear-groups",
    `--inh-caps=${capability}`,
    `--ambient-caps=${capability}`,
  ];
  if (!(await runCommand("setpriv", [...rights, "true"], { timeoutMs })).ok) {
    throw new DevEnvError(
      `PostgreSQL does not run as root. It would run as the user ${name}, but that user cannot enter the folder ${closedFolder}.`,
      `Permit it: chmod o+x ${closedFolder}. Or run the command as a normal user, or from a folder outside ${closedFolder}.`,
    );
  }
  return (command, args) => ({ command: "setpriv", args: [...rights, command, ...args] });
}

/** Returns a command line for spawn, with user ids if spawn must switch the user. */
export type Launcher = (command: string, args: string[]) => { command: string; args: string[]; uid?: number; gid?: number };

const capability = "+dac_read_search";

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
