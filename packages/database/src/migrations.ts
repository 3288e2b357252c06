import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One step of a database's schema. Once it is on main, its text never changes. */
export interface Migration {
  /** Unique in a database, and its file's name: "0002-refund-reason", "outbox-0001-initial". */
  readonly name: string;
  readonly sql: string;
}

/** The .sql files of a folder whose names begin with `prefix`, in the order of their names. */
export function readMigrations(folder: string, prefix = ""): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(prefix) && file.endsWith(".sql"))
    .sort()
    .map((file) => ({ name: file.slice(0, -".sql".length), sql: readFileSync(join(folder, file), "utf8") }));
}

/** What tells one text of a migration from another, as `sha256sum` prints it. */
export const checksumOf = ({ sql }: Migration): string => createHash("sha256").update(sql).digest("hex");
