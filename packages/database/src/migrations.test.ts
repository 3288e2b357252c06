import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { checksumOf, readMigrations } from "./migrations.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const list = "packages/database/migrations.sha256";

test("migrations.sha256 contains the checksum of each migration", () => {
  const folders = new Set(globSync("{packages,services}/*/migrations/*.sql", { cwd: root }).map(dirname));
  const actual = [...folders].flatMap((folder) =>
    readMigrations(join(root, folder)).map((migration) => `${checksumOf(migration)}  ${folder}/${migration.name}.sql`),
  );
  const storedChecksums = readFileSync(join(root, list), "utf8").trim().split("\n");
  expect(
    actual.sort(),
    `Restore an edited migration. Put changes into a migration with the next number, and add its line to ${list}.`,
  ).toEqual(storedChecksums.sort());
});
