import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { checksumOf, readMigrations } from "./migrations.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const list = "packages/database/migrations.sha256";

test("a migration never changes: each has the checksum that is written down", () => {
  const folders = new Set(globSync("{packages,services}/*/migrations/*.sql", { cwd: root }).map(dirname));
  const found = [...folders].flatMap((folder) =>
    readMigrations(join(root, folder)).map((migration) => `${checksumOf(migration)}  ${folder}/${migration.name}.sql`),
  );
  const written = readFileSync(join(root, list), "utf8").trim().split("\n");
  expect(
    found.sort(),
    `Take an edited migration back; what is new goes into one with the next number, and its line into ${list}`,
  ).toEqual(written.sort());
});
