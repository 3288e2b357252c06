import { existsSync } from "node:fs";
import { appendFile, chmod, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Refused } from "../../refused.ts";
import { copyFile, giveTo, type Manifest, makeFolder, readBackups, walFolder, withEach } from "./backup-folder.ts";

export interface RestoreOptions {
  /** The folder of `amana backup`. */
  readonly from: string;
  /** What happened until then is there; without it, all that the log has. */
  readonly toTime?: Date | undefined;
  /** Where the files of the new server go; must not be there yet. */
  readonly dataDir: string;
  /** `pg_wal` of the server that was lost: what it had not archived yet. */
  readonly lastWal?: string | undefined;
}

/**
 * Lays out the files of a new server from the newest backup before `toTime`, each checked against
 * the manifest. Started, it reads the log up to that time and then begins a history of its own.
 * The old server is not touched. Answers the backup it took.
 */
export async function layOutRestore({
  from,
  toTime,
  dataDir,
  lastWal,
}: RestoreOptions): Promise<{ path: string; manifest: Manifest }> {
  if (existsSync(dataDir))
    throw new Refused(`${dataDir} is there already. A restore makes a new server beside the old one: name a new folder.`);
  const backups = await readBackups(from);
  const backup = backups.find(({ manifest }) => !toTime || new Date(manifest.ended_at) <= toTime);
  if (!backup) {
    const oldest = backups.at(-1)?.manifest.ended_at;
    throw new Refused(
      oldest ? `The oldest backup ended at ${oldest}: nothing earlier can be restored.` : `There is no backup in ${from}.`,
    );
  }

  const making = `${dataDir}.making`;
  const { owner } = backup.manifest;
  await makeFolder(making, owner).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    throw new Refused(
      `${making} is there already: another restore runs, or one was cut off. If none runs, delete it and try again.`,
    );
  });
  for (const folder of backup.manifest.folders) await makeFolder(join(making, folder), owner);
  // Not made sure of on the disk here: the server does that before it begins to read the log.
  await withEach(backup.manifest.files, async ({ path, bytes, sha256 }) => {
    const copied = await copyFile(join(backup.path, path), join(making, path), { owner });
    if (copied.bytes === bytes && copied.sha256 === sha256) return;
    throw new Refused(
      `${path} of ${backup.path} is not as it was when it was backed up: take an older backup (move this one away).`,
    );
  });
  await copyFile(join(backup.path, "backup_label"), join(making, "backup_label"), { owner });
  await appendFile(
    join(making, "postgresql.auto.conf"),
    recoverySettings(walFolder(resolve(from)), lastWal && resolve(lastWal), toTime),
  );
  await writeFile(join(making, "recovery.signal"), "", { mode: 0o600 });
  await giveTo(owner, join(making, "recovery.signal"));
  await chmod(making, 0o700);
  await rename(making, dataDir);
  return backup;
}

function recoverySettings(wal: string, lastWal: string | undefined, toTime: Date | undefined): string {
  const copies = [wal, ...(lastWal ? [lastWal] : [])].map((folder) => `cp "${folder}/%f" "%p"`);
  const target = toTime ? `recovery_target_time = '${toTime.toISOString().replace("Z", "+00")}'\n` : "";
  return `# amana restore
restore_command = '${copies.join(" || ")}'
${target}recovery_target_action = 'promote'
# Nobody is let in before it takes writes.
hot_standby = off
`;
}
