import { execFile } from "node:child_process";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Postgres } from "@amana/dev-env/postgres";
import { changeOwner, systemUser } from "@amana/dev-env/postgres/system-user";
import { Client } from "pg";

/** Backup and point-in-time recovery by the procedure of docs/restore.md, for restore drills. */

const runProgram = promisify(execFile);
const archivingFile = join(import.meta.dirname, "..", "..", "deploy", "postgres", "archiving.conf");
/** Folder to which archiving.conf copies log segments. In a deployment, it is on its own disk. */
const documentedFolder = "/backup/wal";

/** Returns the settings of archiving.conf, changed so that the server archives to `walFolder`. */
export async function readArchiveSettings(walFolder: string): Promise<string[]> {
  await mkdir(walFolder, { recursive: true });
  await changeOwner(await systemUser(), walFolder);
  const text = await readFile(archivingFile, "utf8");
  return [...text.matchAll(/^(\w+) = (?:'(.*)'|(.*))$/gm)].map(
    ([, name, quoted, plain]) => `${name}=${(quoted ?? plain ?? "").replaceAll(documentedFolder, walFolder)}`,
  );
}

/**
 * Copies the files of a running server into a new folder. Uses the pg_basebackup in PG_BASEBACKUP.
 * If PG_BASEBACKUP is not set, uses the SQL functions for backups, because the PostgreSQL of the
 * tests has no pg_basebackup, and an older pg_basebackup rejects a newer server.
 */
export async function takeBaseBackup({ superuserUrl }: Postgres, dataDir: string, to: string): Promise<void> {
  const program = process.env["PG_BASEBACKUP"];
  if (program) {
    await runProgram(program, [`--dbname=${superuserUrl}`, `--pgdata=${to}`, "--checkpoint=fast"]);
    await runProgram("chown", ["-R", "--reference", dataDir, to]);
    return;
  }
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    await client.query("select pg_backup_start('drill', fast => true)");
    const excludes = ["./pg_wal/*", "./pg_replslot/*", "./postmaster.pid", "./postmaster.opts"].map(
      (path) => `--exclude=${path}`,
    );
    const tar = `${to}.tar`;
    // tar exits with code 1 if a file changed or disappeared while tar read it. This is no problem,
    // because the write-ahead log contains the change.
    await runProgram("tar", ["-C", dataDir, ...excludes, "-cf", tar, "."]).catch((error) => {
      if (error.code !== 1) throw error;
    });
    await mkdir(to);
    await runProgram("tar", ["-C", to, "-xpf", tar]);
    const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop(wait_for_archive => true)");
    await writeOwned(join(to, "backup_label"), rows[0]?.labelfile ?? "");
  } finally {
    await client.end();
  }
}

export interface Recovery {
  readonly baseBackup: string;
  readonly walFolder: string;
  /** `pg_wal` of the lost server, with segments that it had not archived. */
  readonly lastWal: string;
  /** Data folder of the new server. */
  readonly dataDir: string;
  readonly until: Date;
}

/** Prepares a data folder. A PostgreSQL that starts on it recovers the state at `until`. */
export async function prepareRecovery({ baseBackup, walFolder, lastWal, dataDir, until }: Recovery): Promise<void> {
  await runProgram("cp", ["-a", baseBackup, dataDir]);
  await runProgram("chmod", ["700", dataDir]);
  await appendFile(
    join(dataDir, "postgresql.auto.conf"),
    `restore_command = 'cp "${walFolder}/%f" "%p" || cp "${lastWal}/%f" "%p"'
recovery_target_time = '${until.toISOString().replace("Z", "+00")}'
recovery_target_action = 'promote'
hot_standby = off
`,
  );
  await writeOwned(join(dataDir, "recovery.signal"), "");
}

/** Writes a file that PostgreSQL can read, even if it runs as another user than the test. */
async function writeOwned(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
  await changeOwner(await systemUser(), path);
}
