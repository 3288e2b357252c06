import { existsSync } from "node:fs";
import { mkdir, readdir, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { Refused } from "../../refused.ts";
import { copyFile, type Manifest, makeFolder, manifestFile, walFolder, withEach } from "./backup-folder.ts";

/** What PostgreSQL's own tools leave out: it is made anew, or belongs to the server that runs. */
const emptied = /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//;
const leftOut = /^postmaster\.(pid|opts)$|^recovery\.signal$|^standby\.signal$|(^|\/)pg_internal\.init$|pgsql_tmp/;

/**
 * A base backup of a whole PostgreSQL server whose files are on this machine, while it works: the
 * protocol of its manual ("continuous archiving"), which needs the server's SQL and nothing else.
 * With the write-ahead log that the server archives into `wal` beside it, it can be brought to any
 * later time. Refuses where the log is not archived there. Answers the folder.
 */
export async function takeBackup(
  { serverUrl, to }: { serverUrl: string; to: string },
  progress = (_bytes: number) => {},
): Promise<{ path: string; manifest: Manifest }> {
  const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: 5_000 });
  await client.connect().catch((error: Error & { code?: string }) => {
    throw new Refused(
      `The server cannot be reached as this role (${error.code ?? "no answer"}). --server-url must be a superuser's.`,
    );
  });
  try {
    const server = await readServer(client);
    await mkdir(walFolder(to), { recursive: true });
    const began = await one<{ at: string }>(
      client,
      "select to_json(clock_timestamp()) #>> '{}' as at, pg_backup_start('amana', true)",
    );
    const path = join(to, `base-${began.at.slice(0, 19).replaceAll(/[-:]/g, "")}Z`);
    const partial = `${path}.partial`;
    await makeFolder(partial);
    const { files, folders } = await copyAll(server.data_directory, partial, progress);
    // Waits until the log that the backup needs is archived.
    const end = await one<{ labelfile: string; spcmapfile: string; wal: string }>(
      client,
      "select labelfile, spcmapfile, pg_walfile_name(lsn) as wal from pg_backup_stop(true)",
    );
    if (!existsSync(join(walFolder(to), end.wal))) {
      throw new Refused(
        `The server archives its log elsewhere than in ${walFolder(to)}: there is no ${end.wal}. Let its archive_command copy there.`,
      );
    }
    await writeFile(join(partial, "backup_label"), end.labelfile, { mode: 0o600, flush: true });
    const { at } = await one<{ at: string }>(client, "select to_json(clock_timestamp()) #>> '{}' as at");
    const { server_version, system_identifier, databases, data_directory } = server;
    const { uid, gid } = await stat(data_directory);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const manifest = {
      server_version,
      system_identifier,
      began_at: began.at,
      ended_at: at,
      databases,
      owner: { uid, gid },
      bytes,
      files,
      folders,
    };
    await writeFile(join(partial, manifestFile), JSON.stringify(manifest), { mode: 0o600, flush: true });
    await rename(partial, path);
    return { path, manifest };
  } finally {
    // Ends a backup that was not stopped, too.
    await client.end();
  }
}

interface Server {
  data_directory: string;
  server_version: string;
  archive_mode: string;
  system_identifier: string;
  databases: string[];
  spaces: number;
}

async function readServer(client: pg.Client): Promise<Server> {
  const server = await one<Server>(
    client,
    `select current_setting('data_directory') as data_directory, current_setting('server_version') as server_version,
       current_setting('archive_mode') as archive_mode, (select system_identifier::text from pg_control_system()) as system_identifier,
       (select array_agg(datname::text order by datname) from pg_database where not datistemplate) as databases,
       (select count(*)::int from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as spaces`,
  );
  if (server.archive_mode !== "on")
    throw new Refused(
      "The server does not archive its log: set archive_mode = on and an archive_command (docs/restore.md), and restart it.",
    );
  if (server.spaces > 0)
    throw new Refused("The server has tablespaces of its own, which this command does not copy. Use pg_basebackup.");
  if (!existsSync(join(server.data_directory, "PG_VERSION")))
    throw new Refused(
      `The server's files (${server.data_directory}) are not on this machine, or not to be read. Run this where they are.`,
    );
  return server;
}

async function copyAll(from: string, to: string, progress: (bytes: number) => void) {
  const found: string[] = [];
  const folders: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(from, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (emptied.test(path) || leftOut.test(path)) continue;
      // The log may be a link to another disk.
      const isFolder = entry.isDirectory() || path === "pg_wal";
      (isFolder ? folders : found).push(path);
      if (isFolder && path !== "pg_wal") await walk(path);
    }
  };
  await walk("");
  for (const folder of folders) await makeFolder(join(to, folder));
  const files: { path: string; bytes: number; sha256: string }[] = [];
  let copied = 0;
  await withEach(found, async (path) => {
    const copy = await copyFile(join(from, path), join(to, path), { isSynced: true }).catch((error: NodeJS.ErrnoException) => {
      // Dropped meanwhile; the log says so too.
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (!copy) return;
    files.push({ path, ...copy });
    copied += copy.bytes;
    progress(copied);
  });
  return { files, folders };
}

async function one<Row extends object>(client: pg.Client, sql: string): Promise<Row> {
  const { rows } = await client.query<Row>(sql);
  return rows[0] as Row;
}
