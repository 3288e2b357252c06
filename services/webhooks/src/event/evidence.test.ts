import { createTestDatabase } from "@amana/testing";
import { expect, test } from "vitest";
import { database } from "../orm.ts";
import { evidenceColumns } from "./evidence.ts";

test("each column of a table with evidence is either shown or left out by name", async () => {
  await using db = await createTestDatabase("webhooks", database);
  const namesIn = (list: string) => list.split(",").map((column) => column.trim().split(" ")[0]);
  for (const [table, { shown, leftOut }] of Object.entries(evidenceColumns)) {
    const rows = await db.orm.em
      .fork()
      .execute<{ name: string }[]>(
        "select attname as name from pg_attribute where attrelid = ?::regclass and attnum > 0 and not attisdropped",
        [table],
      );
    const listed = [...namesIn(shown), ...namesIn(leftOut)];
    expect(listed.sort(), `${table}: list each column once in evidenceColumns`).toEqual(rows.map(({ name }) => name).sort());
  }
});
