import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aDatabase, logger, unused } from "../test/a-database.ts";
import { createOrm, type Orm } from "./orm.ts";
import { readTogether } from "./read-together.ts";
import { isDatabaseUnavailable } from "./transaction.ts";

let database: Awaited<ReturnType<typeof aDatabase>>;
let orm: Orm;
const em = (of = orm) => of.em.fork() as SqlEntityManager;

const owners = Array.from({ length: 3 }, () => uuidv7());
const ids = Array.from({ length: 12 }, () => uuidv7());
const ownerOf = (id: string) => owners[ids.indexOf(id) % owners.length] as string;

beforeAll(async () => {
  database = await aDatabase();
  orm = await database.connect({ poolMax: 6 });
  await em().execute("create table thing (id uuid primary key, business_id uuid not null, written int not null default 0)");
  for (const id of ids) await em().execute("insert into thing values (?, ?)", [id, ownerOf(id)]);
});
afterAll(() => database[Symbol.asyncDispose]());

const select = "select id, business_id, written from thing where true";
const read = readTogether("thing_read", select, ["business_id", "id"]);

/** A way to the database whose connections can be made to hang, as when a host is gone. */
async function aWay() {
  const { hostname, port } = new URL(database.url);
  const sockets: Socket[] = [];
  let held: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    sockets.push(near, far);
    near.on("error", () => {});
    far.on("error", () => {});
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(database.url);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  const away = await createOrm({ url: url.toString(), ...unused, poolMax: 8 }, logger);
  return {
    orm: away,
    hang() {
      held = sockets.splice(0);
      for (const socket of held) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of [...held, ...sockets]) socket.destroy();
      await away.close();
      server.close();
    },
  };
}

test.concurrent("reads on connections that hang fail in time, and those after them are answered", async () => {
  await using way = await aWay();
  const readAll = () => Promise.allSettled(ids.map((id) => read(em(way.orm), ownerOf(id), id)));
  const id = ids[0] as string;
  const turn = () => new Promise(setImmediate);
  // As many connections as there may be statements.
  const warm: Promise<unknown>[] = [];
  for (let i = 0; i < 4; i++) {
    warm.push(read(em(way.orm), ownerOf(id), id));
    await turn();
  }
  await Promise.all(warm);
  way.hang();
  const hanging: Promise<PromiseSettledResult<unknown>[]>[] = [];
  for (let i = 0; i < 4; i++) {
    hanging.push(readAll());
    await turn();
  }
  const behind = readAll();
  for (const results of await Promise.all(hanging)) {
    for (const result of results) {
      expect(result.status).toBe("rejected");
      expect(isDatabaseUnavailable((result as PromiseRejectedResult).reason)).toBe(true);
    }
  }
  expect((await behind).map(({ status }) => status)).toEqual(ids.map(() => "fulfilled"));
});

test("a table without a column of the key is refused, and never read without it", async () => {
  await em().execute("create table shared (id uuid primary key)");
  const [a, b] = [uuidv7(), uuidv7()];
  await em().execute("insert into shared values (?), (?)", [a, b]);
  const readShared = readTogether("shared_read", "select id from shared where true", ["business_id", "id"]);
  const results = await Promise.allSettled([a, b].map((id) => readShared(em(), uuidv7(), id)));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

test("a column may have any name", async () => {
  await em().execute("create table spot (id uuid primary key, place text)");
  const [a, b] = [uuidv7(), uuidv7()];
  await em().execute("insert into spot values (?, 'x'), (?, '2')", [a, b]);
  const readSpot = readTogether("spot_read", "select id, place from spot where true", ["id"]);
  expect(await Promise.all([a, b].map((id) => readSpot(em(), id)))).toEqual([
    { id: a, place: "x" },
    { id: b, place: "2" },
  ]);
});

test("rows are looked up by their ids, also while PostgreSQL knows nothing of a table that grows", async () => {
  const one = await database.connect({ poolMax: 1 });
  // Wide enough that few rows would be expected in it.
  const others = "a text, b text, c text, d text, e text, f bigint, g bigint";
  const columns = `(id uuid primary key, business_id uuid not null, status text not null, at timestamptz, ${others})`;
  await em(one).execute(`create table growing ${columns} with (autovacuum_enabled = false)`);
  await em(one).execute("create index growing_at on growing (business_id, at desc, id desc)");
  await em(one).execute("create index growing_status on growing (business_id, status, at desc, id desc)");
  const readGrowing = readTogether("growing_read", "select id from growing where true", ["business_id", "id"]);
  const owner = uuidv7();
  const readSome = async (count: number) => {
    const found = await em(one).execute<{ id: string }[]>("select id from growing order by id limit ?", [count]);
    const asked = found.length > 0 ? found : [{ id: uuidv7() }, { id: uuidv7() }].slice(0, count);
    return await Promise.all(asked.map(({ id }) => readGrowing(em(one), owner, id)));
  };
  // So often that both statements have plans for good.
  for (let i = 0; i < 8; i++) for (const count of [1, 2]) await readSome(count);
  await em(one).execute("insert into growing select gen_random_uuid(), ?, 'PAID', now() from generate_series(1, 20000)", [owner]);
  expect(await readSome(1)).toHaveLength(1);
  expect(await readSome(100)).not.toContain(undefined);
  await em(one).execute("select pg_stat_force_next_flush()");
  const scans = "select idx_scan::int as count from pg_stat_user_indexes where indexrelname like 'growing_%t%'";
  expect(await em(one).execute(scans)).toEqual([{ count: 0 }, { count: 0 }]);
});

test("whatever is asked, written and cut off at once: each gets its own row, as new as its question, or a failure", async () => {
  const killer = await database.connect({ poolMax: 1 });
  const others = await database.connect({ poolMax: 3 });
  const written = new Map(ids.map((id) => [id, 0]));
  const anyKey = fc.constantFrom(...ids);
  const anyOwner = fc.constantFrom(...owners, "", "x", "00000000-0000-0000-0000-000000000000");
  const odd = fc.constantFrom("", "x", "\0", "{}", "{null}", `${uuidv7()}\n`, uuidv7(), `{${ids[0]}}`);
  const step = fc.oneof(
    { weight: 12, arbitrary: fc.record({ do: fc.constant("read" as const), id: anyKey, upper: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("foreign" as const), id: fc.oneof(anyKey, odd), owner: anyOwner }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("write" as const), id: anyKey }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("turn" as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("kill" as const) }) },
  );
  const run = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 80 }), async (steps) => {
    const asked: Promise<void>[] = [];
    for (const given of steps) {
      if (given.do === "turn") await new Promise(setImmediate);
      else if (given.do === "write") {
        const count = (written.get(given.id) ?? 0) + 1;
        await em(others).execute("update thing set written = ? where id = ?", [count, given.id]);
        written.set(given.id, count);
      } else if (given.do === "kill") {
        await em(killer).execute(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%written from thing%' and pid <> pg_backend_pid()",
        );
      } else if (given.do === "read") {
        const known = written.get(given.id) ?? 0;
        const id = given.upper ? given.id.toUpperCase() : given.id;
        asked.push(
          read(em(), ownerOf(given.id), id).then(
            (row) => {
              expect(row).toMatchObject({ id: given.id, business_id: ownerOf(given.id) });
              expect(row?.["written"]).toBeGreaterThanOrEqual(known);
            },
            (error: unknown) => expect(isDatabaseUnavailable(error)).toBe(true),
          ),
        );
      } else {
        const isOwn = ids.includes(given.id) && ownerOf(given.id) === given.owner;
        asked.push(
          read(em(), given.owner, given.id).then(
            (row) => expect(row?.["id"]).toBe(isOwn ? given.id : undefined),
            (error: unknown) => expect(isDatabaseUnavailable(error)).toBe(true),
          ),
        );
      }
    }
    await Promise.all(asked);
  });
  await fc.assert(run, { numRuns: 25 });
});
