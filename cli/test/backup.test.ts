import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@amana/dev-env/postgres";
import { amanaWith } from "@amana/dev-env/run-amana";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";

let stack: AsyncDisposableStack;
let dir: string;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  dir = await mkdtemp(join(tmpdir(), "amana-backup-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
});
afterEach(() => stack.disposeAsync());

async function aServer(name: string, walArchive?: string) {
  const postgres = await startPostgres({
    dataDir: join(dir, name),
    durable: true,
    ...(walArchive && { walArchive }),
    log: () => {},
  });
  stack.defer(() => postgres.stop());
  const sql = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: postgres.superuserUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  };
  return { ...postgres, sql };
}

test("a server that is written to is backed up, and restored to any time since, also what it had not archived", async () => {
  const backups = join(dir, "backups");
  const old = await aServer("old", join(backups, "wal"));
  await old.sql("create table entry (n serial, text text)");
  await old.sql("create database other");
  let writes = true;
  const writing = (async () => {
    while (writes) await old.sql("insert into entry (text) select repeat('x', 1000) from generate_series(1, 50)");
  })();
  const backup = ["backup", "--server-url", old.superuserUrl, "--to", backups];
  expect(await amanaWith({}, ...backup)).toMatchObject({ code: 0, out: expect.stringContaining("databases other, postgres") });
  writes = false;
  await writing;
  await old.sql("insert into entry (text) values ('before')");
  await old.sql("select pg_sleep(0.01)");
  const [now] = await old.sql<{ at: string }>("select to_json(clock_timestamp()) #>> '{}' as at");
  const [count] = await old.sql<{ count: number }>("select count(*)::int as count from entry");
  await old.sql("select pg_sleep(0.01)");
  await old.sql("insert into entry (text) values ('after')");
  await old.kill();

  const restore = ["restore", "--from", backups, "--last-wal", join(dir, "old", "pg_wal")];
  const earlier = await amanaWith({}, ...restore, "--to-time", now?.at ?? "", "--data-dir", join(dir, "earlier"));
  expect(earlier).toMatchObject({ code: 0, err: "" });
  const restored = await aServer("earlier");
  expect(
    await restored.sql("select count(*)::int as count, max(text) filter (where text = 'after') as after from entry"),
  ).toEqual([{ count: count?.count, after: null }]);
  await restored.sql("insert into entry (text) values ('it takes writes')");
  const [base = ""] = (await readdir(backups)).filter((name) => name.startsWith("base-"));

  expect(await amanaWith({}, ...restore, "--data-dir", join(dir, "earlier"))).toMatchObject({
    code: 1,
    err: expect.stringContaining("there already"),
  });
  const tooEarly = await amanaWith({}, ...restore, "--to-time", "2020-01-01T00:00:00Z", "--data-dir", join(dir, "x"));
  expect(tooEarly).toMatchObject({ code: 1, err: expect.stringContaining("nothing earlier can be restored") });
  await writeFile(join(backups, base, "PG_VERSION"), "99\n");
  const broken = await amanaWith({}, ...restore, "--data-dir", join(dir, "y"));
  expect(broken).toMatchObject({ code: 1, err: expect.stringContaining("not as it was when it was backed up") });
  const again = await amanaWith({}, ...restore, "--data-dir", join(dir, "y"));
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining("was cut off. If none runs, delete it") });
  await writeFile(join(backups, base, "manifest.json"), '{"server_v');
  const unreadable = await amanaWith({}, ...restore, "--data-dir", join(dir, "z"));
  expect(unreadable).toMatchObject({ code: 1, err: expect.stringContaining(`${base} cannot be read: move this backup away`) });
  expect(unreadable.err).not.toContain("SyntaxError");
});

test("a server that archives nothing is not backed up, since no later time could be restored", async () => {
  const { superuserUrl } = await aServer("old");
  const answer = await amanaWith({}, "backup", "--server-url", superuserUrl, "--to", join(dir, "backups"));
  expect(answer).toMatchObject({ code: 1, err: expect.stringContaining("archive_mode") });
  expect(answer.err + answer.out).not.toContain(new URL(superuserUrl).password);
});
