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

/** PostgreSQL refuses to run as root; for root this is the user `postgres`, created when it is missing. */
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
export async function giveTo(user: SystemUser, path: string): Promise<void> {
  if (user.uid !== undefined && user.gid !== undefined) await chown(path, user.uid, user.gid);
}

/** Throws DevEnvError, naming the folder, when the user may not pass through a parent folder of `path`. */
export async function requireReachable(user: SystemUser, path: string, what: string): Promise<void> {
  if (user.uid === undefined) return;
  const parents: string[] = [];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) parents.unshift(folder);

  for (const folder of parents) {
    const { mode, uid, gid } = await stat(folder);
    const executeBit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & executeBit) === 0) {
      throw new DevEnvError(
        `PostgreSQL runs as the user ${name} when started by root, and that user may not enter ${folder}, where ${what} lies.`,
        `Allow it: chmod o+x ${folder}. Or run this as a normal user, or from a folder outside ${folder}.`,
      );
    }
  }
}
