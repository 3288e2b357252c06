import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aDatabase, logger, unused } from "../test/a-database.ts";
import { createOrm, type Orm } from "./orm.ts";
import { isDatabaseUnavailable, transaction } from "./transaction.ts";

let database: Awaited<ReturnType<typeof aDatabase>>;
let orm: Orm;
beforeAll(async () => {
  database = await aDatabase();
  orm = await database.connect();
  await orm.em.fork().execute("create table account (id int primary key); insert into account values (1)");
});
afterAll(() => database[Symbol.asyncDispose]());

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** The error of a query to a server that does this with whoever connects. */
async function errorFromServer(host: string, serve: (socket: Socket) => void, listening: boolean) {
  const server = createServer(serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  if (!listening) server.close();
  const away = await createOrm({ url: `postgres://u:p@${host}:${port}/d`, ...unused }, logger);
  const error = await errorOf(transaction(away, (em) => em.execute("select 1")));
  await away.close();
  server.close();
  return error;
}

test.for(["127.0.0.1", "localhost"])("nobody listens at %s", async (host) => {
  const error = await errorFromServer(host, () => {}, false);
  expect(error).toBeInstanceOf(Error);
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test("the server resets the connection", async () => {
  expect(isDatabaseUnavailable(await errorFromServer("127.0.0.1", (socket) => socket.resetAndDestroy(), true))).toBe(true);
});

test.concurrent("the server accepts and never answers: the wait is bounded", async () => {
  const sockets: Socket[] = [];
  const error = await errorFromServer("127.0.0.1", (socket) => sockets.push(socket.on("error", () => {})), true);
  for (const socket of sockets) socket.destroy();
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test("the name of the server is unknown", async () => {
  const away = await createOrm({ url: "postgres://u:p@no-such-host.invalid/d", ...unused }, logger);
  expect(isDatabaseUnavailable(await errorOf(away.em.fork().execute("select 1")))).toBe(true);
  await away.close();
});

test("the session is ended in the middle of a transaction", async () => {
  const error = await errorOf(
    transaction(orm, async (em) => {
      const [row] = await em.execute<{ pid: number }[]>("select pg_backend_pid() as pid");
      await orm.em.fork().execute("select pg_terminate_backend(?)", [row?.pid]);
      await em.execute("select 1");
    }),
  );
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test("when all idle sessions are ended, the process lives and the next transaction gets a new one", async () => {
  const one = await database.connect({ poolMax: 1 });
  const pidOf = () => transaction(one, (em) => em.execute<{ pid: number }[]>("select pg_backend_pid() as pid"));
  const [before] = await pidOf();
  await orm.em.fork().execute("select pg_terminate_backend(?, 5000)", [before?.pid]);
  const [after] = await pidOf().catch((error: unknown) => {
    // The news may not have come yet.
    expect(isDatabaseUnavailable(error)).toBe(true);
    return pidOf();
  });
  expect(after?.pid).not.toBe(before?.pid);
});

test("connections that are lost in a transaction are replaced, however often that happens", async () => {
  const two = await database.connect({ poolMax: 2 });
  const loseOne = async () => {
    const error = await errorOf(
      transaction(two, async (em) => {
        const [row] = await em.execute<{ pid: number }[]>("select pg_backend_pid() as pid");
        await orm.em.fork().execute("select pg_terminate_backend(?, 5000)", [row?.pid]);
        await em.execute("select 1");
      }),
    );
    expect(String(error)).toMatch(/terminat|not queryable/);
  };
  for (let i = 0; i < 3; i++) await Promise.all([loseOne(), loseOne()]);
  await transaction(two, (em) => em.execute("select 1"));
});

test.concurrent("all connections are in use: the wait is bounded", async () => {
  const one = await database.connect({ poolMax: 1 });
  const ended = Promise.withResolvers<void>();
  const holds = Promise.withResolvers<void>();
  const holder = transaction(one, async (em) => {
    await em.execute("select 1");
    holds.resolve();
    await ended.promise;
  });
  await holds.promise;
  const error = await errorOf(transaction(one, (em) => em.execute("select 1")));
  ended.resolve();
  await holder;
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test.for([
  ["a lock is not given up in time", "set local lock_timeout = '20ms'", "select * from account for update"],
  ["a statement takes too long", "set local statement_timeout = '20ms'", "select pg_sleep(10)"],
  ["the server has become a read-only replica", "set transaction read only", "insert into account values (2)"],
] as const)("%s", async ([, setting, statement]) => {
  await transaction(orm, async (holder) => {
    await holder.execute("select * from account for update");
    const error = await errorOf(
      transaction(orm, async (em) => {
        await em.execute(setting);
        await em.execute(statement);
      }),
    );
    expect(isDatabaseUnavailable(error)).toBe(true);
  });
});

test("a fault of a statement, or of our code, is no outage", async () => {
  for (const statement of ["select nothing", "insert into account values (1)", "select 1 / 0", "select 'x'::uuid"]) {
    const error = await errorOf(transaction(orm, (em) => em.execute(statement)));
    expect(error).toBeInstanceOf(Error);
    expect(isDatabaseUnavailable(error)).toBe(false);
  }
  for (const error of [new Error("no"), new TypeError("no"), "no", undefined]) expect(isDatabaseUnavailable(error)).toBe(false);
});
