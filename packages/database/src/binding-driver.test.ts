import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../test/test-database.ts";
import type { Orm } from "./orm.ts";

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let orm: Orm;
beforeAll(async () => {
  database = await createTestDatabase();
  orm = await database.connect({ poolMax: 1 });
});
afterAll(() => database[Symbol.asyncDispose]());

const currentStatement = "select query from pg_stat_activity where pid = pg_backend_pid()";

test("BindingDriver does not write values into the text of a statement", async () => {
  const secret = "Aïcha O'Brien \\ ?";
  const [row] = await orm.em
    .fork()
    .execute<{ query: string; name: string }[]>(
      `select (${currentStatement}), ?::text as name, ?::timestamptz as at, ?::jsonb as json`,
      [secret, new Date("1985-04-12T00:00:00Z"), { name: secret }],
    );
  expect(row?.name).toBe(secret);
  expect(row?.query).not.toMatch(/Aïcha|1985/);
  expect(row?.query).toContain("$3");
});

test("BindingDriver sends texts, bytes, dates, big numbers, lists, JSON and null unchanged", async () => {
  const values = ["it's", "", "\\", "?", "$1", "\u{1F600}"];
  const em = orm.em.fork();
  for (const value of values) expect(await em.execute("select ?::text as value", [value])).toEqual([{ value }]);
  expect(
    await em.execute(
      "select ?::bytea as bytes, ?::timestamptz::text as at, ?::bigint as big, ? as number, ?::text as nothing, ? as claim",
      [Buffer.from([0, 255, 39]), new Date("2026-01-02T03:04:05.678Z"), 9_007_199_254_740_993n, 7, null, true],
    ),
  ).toEqual([
    {
      bytes: Buffer.from([0, 255, 39]),
      at: "2026-01-02 03:04:05.678+00",
      big: "9007199254740993",
      number: 7,
      nothing: null,
      claim: true,
    },
  ]);
  expect(await em.execute("select 'b' in (?) as found, ? \\? 'a' as has", [["a", "b"], { a: 1 }])).toEqual([
    { found: true, has: true },
  ]);
});
