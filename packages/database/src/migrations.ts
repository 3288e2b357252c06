import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A step of a database's schema. Its text must not change after the migration is on main. */
export interface Migration {
  /**
   * File name without the suffix, unique in a database, for example "0002-refund-reason" or
   * "outbox-0001-initial".
   */
  readonly name: string;
  readonly sql: string;
}

/**
 * Reads the .sql files of a folder whose names begin with `prefix`, in the order of their names.
 */
export function readMigrations(folder: string, prefix = ""): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(prefix) && file.endsWith(".sql"))
    .sort()
    .map((file) => ({ name: file.slice(0, -".sql".length), sql: readFileSync(join(folder, file), "utf8") }));
}

/** Returns the SHA-256 of a migration's text, in the format of `sha256sum`. */
export const checksumOf = ({ sql }: Migration): string => createHash("sha256").update(sql).digest("hex");
