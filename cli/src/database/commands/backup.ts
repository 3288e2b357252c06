import { resolve } from "node:path";
import type { Command } from "commander";
import { databaseHelp } from "../../options.ts";
import { exitCodes, Refused } from "../../refused.ts";
import { layOutRestore } from "../backup/lay-out-restore.ts";
import { takeBackup } from "../backup/take-backup.ts";

/** Base backups of a server's files, and what is made of them. */
export function backup(program: Command): void {
  program
    .command("backup")
    .description("a base backup of the PostgreSQL whose files are on this machine, while it works (docs/restore.md)")
    .requiredOption("--server-url <url>", "of a superuser; its password may stand in PGPASSWORD")
    .requiredOption("--to <folder>", "kept beside the log that the server archives into <folder>/wal")
    .addHelpText("after", databaseHelp("backup --server-url postgres://postgres@127.0.0.1/postgres --to /backup"))
    .action(backUp);
  program
    .command("restore")
    .description("lays out a new server's files as they were at a time; the old server is not touched (docs/restore.md)")
    .requiredOption("--from <folder>", "the folder of amana backup")
    .requiredOption("--data-dir <folder>", "where the new server's files go")
    .option("--to-time <time>", "like 2026-11-20T08:00:00Z; all that the log has unless given")
    .option("--last-wal <folder>", "pg_wal of the lost server: what it had not archived yet")
    .addHelpText("after", "\nGoes at files.\n\nExample:\n  amana restore --from /backup --data-dir /var/lib/postgresql/restored")
    .action(restore);
}

const inMegabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
const secondsSince = (beganMs: number) => `${((performance.now() - beganMs) / 1000).toFixed(1)} s`;

async function backUp({ serverUrl, to }: { serverUrl: string; to: string }): Promise<void> {
  const beganMs = performance.now();
  const { path, manifest } = await takeBackup({ serverUrl, to: resolve(to) });
  process.stdout.write(`${path}
  ${inMegabytes(manifest.bytes)} in ${manifest.files.length} files, ${secondsSince(beganMs)}; databases ${manifest.databases.join(", ")}
  Any time from ${manifest.ended_at} on can be restored from it, as long as the log in wal/ is kept.\n`);
}

interface RestoreArguments {
  readonly from: string;
  readonly dataDir: string;
  readonly toTime?: string;
  readonly lastWal?: string;
}

async function restore({ from, dataDir, toTime: text, lastWal }: RestoreArguments): Promise<void> {
  const toTime = text === undefined ? undefined : new Date(text);
  if (toTime && Number.isNaN(toTime.getTime()))
    throw new Refused("--to-time must be a time like 2026-11-20T08:00:00Z.", exitCodes.usage);
  const beganMs = performance.now();
  const { path, manifest } = await layOutRestore({ from: resolve(from), dataDir: resolve(dataDir), toTime, lastWal });
  process.stdout.write(`${resolve(dataDir)} is laid out from ${path}: ${inMegabytes(manifest.bytes)}, ${secondsSince(beganMs)}.
Start PostgreSQL ${manifest.server_version} on it, on a port of its own: it reads the log${toTime ? ` up to ${toTime.toISOString()}` : ""} and then takes writes.
Stop every replica of the service that is restored, give it the new address, start it, and go on in docs/restore.md.\n`);
}
