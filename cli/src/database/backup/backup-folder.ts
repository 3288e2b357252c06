import { createHash } from "node:crypto";
import { chown, type FileHandle, mkdir, open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Refused } from "../../refused.ts";

/** One base backup: `base-<time>` in the backup folder, beside the write-ahead log in `wal`. */
export interface Manifest {
  readonly server_version: string;
  /** Tells one PostgreSQL cluster from another. */
  readonly system_identifier: string;
  /** By the server's clock. A restore can end at any time from `ended_at` on. */
  readonly began_at: string;
  readonly ended_at: string;
  readonly databases: readonly string[];
  /** Of the server's files, for a restore by root. */
  readonly owner: { readonly uid: number; readonly gid: number };
  readonly bytes: number;
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly sha256: string }[];
  /** Empty ones too: the server wants them all. */
  readonly folders: readonly string[];
}

export const manifestFile = "manifest.json";
export const walFolder = (folder: string) => join(folder, "wal");

/** The backups in a folder, the newest first; what was interrupted is none. */
export async function readBackups(folder: string): Promise<{ path: string; manifest: Manifest }[]> {
  const names = await readdir(folder).catch(() => {
    throw new Refused(`There is no folder ${folder} that can be read. --from names one that amana backup has filled.`);
  });
  const backups = names
    .filter((name) => /^base-[0-9TZ]+$/.test(name))
    .map(async (name) => {
      const path = join(folder, name);
      try {
        return { path, manifest: JSON.parse(await readFile(join(path, manifestFile), "utf8")) as Manifest };
      } catch {
        throw new Refused(`The ${manifestFile} of ${path} cannot be read: move this backup away, and try again.`);
      }
    });
  return (await Promise.all(backups)).sort((a, b) => (a.manifest.ended_at < b.manifest.ended_at ? 1 : -1));
}

/** Copies a file that may change or grow meanwhile, and answers what was copied. */
export async function copyFile(
  from: string,
  to: string,
  { owner, isSynced = false }: { owner?: Manifest["owner"]; isSynced?: boolean } = {},
): Promise<{ bytes: number; sha256: string }> {
  await using source = await open(from, "r");
  await using target = await open(to, "wx", 0o600);
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(1024 * 1024);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, bytes);
    if (bytesRead === 0) break;
    const part = buffer.subarray(0, bytesRead);
    hash.update(part);
    await writeAll(target, part);
    bytes += bytesRead;
  }
  if (isSynced) await target.sync();
  await giveTo(owner, to);
  return { bytes, sha256: hash.digest("hex") };
}

async function writeAll(target: FileHandle, part: Buffer): Promise<void> {
  for (let done = 0; done < part.length; ) done += (await target.write(part, done)).bytesWritten;
}

const atOnce = 8;

/** Does `work` with each, several at a time: most of it is waiting for the disk. */
export async function withEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Root restores for the user that PostgreSQL runs as. */
export async function giveTo(owner: Manifest["owner"] | undefined, path: string): Promise<void> {
  if (owner && process.getuid?.() === 0) await chown(path, owner.uid, owner.gid);
}

export async function makeFolder(path: string, owner?: Manifest["owner"]): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  await giveTo(owner, path);
}
