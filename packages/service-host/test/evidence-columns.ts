import { createTestDatabase, type TestDatabaseOptions } from "@amana/testing";

/**
 * For each table, SQL lists of the columns that the evidence contains and of the columns that it
 * leaves out.
 */
type EvidenceColumns = Readonly<Record<string, { readonly shown: string; readonly leftOut: string }>>;

/**
 * Returns, for each table with evidence, the sorted names of the columns that `evidenceColumns`
 * lists and of the columns that the table has.
 */
export async function columnsOfEvidence(name: string, database: TestDatabaseOptions, evidenceColumns: EvidenceColumns) {
  await using db = await createTestDatabase(name, database);
  const namesIn = (list: string) => list.split(",").map((column) => column.trim().split(" ")[0]);
  const listed: Record<string, unknown[]> = {};
  const existing: Record<string, string[]> = {};
  for (const [table, { shown, leftOut }] of Object.entries(evidenceColumns)) {
    const rows = await db.orm.em
      .fork()
      .execute<{ name: string }[]>(
        "select attname as name from pg_attribute where attrelid = ?::regclass and attnum > 0 and not attisdropped",
        [table],
      );
    listed[table] = [...namesIn(shown), ...namesIn(leftOut)].sort();
    existing[table] = rows.map((row) => row.name).sort();
  }
  return { listed, existing };
}
