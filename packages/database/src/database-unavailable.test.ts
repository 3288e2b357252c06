import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { forTenant } from "@amana/runtime";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createTestDatabase, logger, unusedEntities } from "../test/test-database.ts";
import { createOrm, type Orm } from "./orm.ts";
import { isDatabaseUnavailable, transaction } from "./transaction.ts";

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let orm: Orm;
beforeAll(async () => {
  database = await createTestDatabase();
  orm = await database.connect();
  await orm.em.fork().execute("create table account (id int primary key); insert into account values (1)");
});
afterAll(() => database[Symbol.asyncDispose]());

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/**
 * Starts a TCP server that handles connections with `serve`, and returns the error of a query to
 * this server. If `listening` is false, closes the server before the query.
 */
async function errorFromServer(host: string, serve: (socket: Socket) => void, listening: boolean) {
  const server = createServer(serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  if (!listening) server.close();
  const unavailable = await createOrm({ url: `postgres://u:p@${host}:${port}/d`, ...unusedEntities }, logger);
  const error = await errorOf(transaction(unavailable, (em) => em.execute("select 1")));
  await unavailable.close();
  server.close();
  return error;
}

test.for(["127.0.0.1", "localhost"])("isDatabaseUnavailable returns true when no server listens at %s", async (host) => {
  const error = await errorFromServer(host, () => {}, false);
  expect(error).toBeInstanceOf(Error);
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test("isDatabaseUnavailable returns true when the server resets the connection", async () => {
  expect(isDatabaseUnavailable(await errorFromServer("127.0.0.1", (socket) => socket.resetAndDestroy(), true))).toBe(true);
});

test.concurrent("isDatabaseUnavailable returns true when the server accepts a connection and sends no response", async () => {
  const sockets: Socket[] = [];
  const error = await errorFromServer("127.0.0.1", (socket) => sockets.push(socket.on("error", () => {})), true);
  for (const socket of sockets) socket.destroy();
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test("isDatabaseUnavailable returns true when the host name does not resolve", async () => {
  const unavailable = await createOrm({ url: "postgres://u:p@no-such-host.invalid/d", ...unusedEntities }, logger);
  expect(isDatabaseUnavailable(await errorOf(unavailable.em.fork().execute("select 1")))).toBe(true);
  await unavailable.close();
});

test("isDatabaseUnavailable returns true when the session is terminated during a transaction", async () => {
  const error = await errorOf(
    transaction(orm, async (em) => {
      const [row] = await em.execute<{ pid: number }[]>("select pg_backend_pid() as pid");
      await orm.em.fork().execute("select pg_terminate_backend(?)", [row?.pid]);
      await em.execute("select 1");
    }),
  );
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test("`transaction` opens a new session after PostgreSQL terminated the idle sessions", async () => {
  const singleConnection = await database.connect({ poolMax: 1 });
  const pidOf = () => transaction(singleConnection, (em) => em.execute<{ pid: number }[]>("select pg_backend_pid() as pid"));
  const [firstSession] = await pidOf();
  await orm.em.fork().execute("select pg_terminate_backend(?, 5000)", [firstSession?.pid]);
  const [secondSession] = await pidOf().catch((error: unknown) => {
    // The pool may still contain the ended session.
    expect(isDatabaseUnavailable(error)).toBe(true);
    return pidOf();
  });
  expect(secondSession?.pid).not.toBe(firstSession?.pid);
});

test("the ORM of createOrm replaces connections that are lost in transactions, even if all connections are lost three times", async () => {
  const twoConnections = await database.connect({ poolMax: 2 });
  const loseConnection = async () => {
    const error = await errorOf(
      transaction(twoConnections, async (em) => {
        const [row] = await em.execute<{ pid: number }[]>("select pg_backend_pid() as pid");
        await orm.em.fork().execute("select pg_terminate_backend(?, 5000)", [row?.pid]);
        await em.execute("select 1");
      }),
    );
    expect(String(error)).toMatch(/terminat|not queryable/);
  };
  for (let i = 0; i < 3; i++) await Promise.all([loseConnection(), loseConnection()]);
  await transaction(twoConnections, (em) => em.execute("select 1"));
});

test.concurrent("transactions of a business leave half of the connections to others, and get a temporary error after waiting", async () => {
  const fourConnections = await database.connect({ poolMax: 4 });
  const release = Promise.withResolvers<void>();
  const run = (tenant: string, work: () => Promise<void>) =>
    forTenant(tenant, () =>
      transaction(fourConnections, async (em) => {
        await em.execute("select 1");
        await work();
      }),
    );
  let running = 0;
  const outcomes = Array.from({ length: 5 }, () =>
    run("busy", async () => {
      running++;
      await release.promise;
    }).catch((error: unknown) => error),
  );
  await vi.waitUntil(() => running === 2, 60_000);
  await Promise.all([run("other", async () => {}), run("other", async () => {})]);
  const errors = await Promise.all(outcomes.slice(2));
  expect(errors.map(isDatabaseUnavailable)).toEqual([true, true, true]);
  release.resolve();
  expect(await Promise.all(outcomes.slice(0, 2))).toEqual([undefined, undefined]);
  expect(running).toBe(2);
});

test.concurrent("isDatabaseUnavailable returns true when no connection becomes free before the acquire timeout", async () => {
  const singleConnection = await database.connect({ poolMax: 1 });
  const release = Promise.withResolvers<void>();
  const acquired = Promise.withResolvers<void>();
  const holder = transaction(singleConnection, async (em) => {
    await em.execute("select 1");
    acquired.resolve();
    await release.promise;
  });
  await acquired.promise;
  const error = await errorOf(transaction(singleConnection, (em) => em.execute("select 1")));
  release.resolve();
  await holder;
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test.for([
  ["a lock is not released before the lock timeout", "set local lock_timeout = '20ms'", "select * from account for update"],
  ["a statement exceeds the statement timeout", "set local statement_timeout = '20ms'", "select pg_sleep(10)"],
  ["the server has become a read-only replica", "set transaction read only", "insert into account values (2)"],
] as const)("isDatabaseUnavailable returns true when %s", async ([, setting, statement]) => {
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

test("isDatabaseUnavailable returns false for an invalid SQL statement or a programming error", async () => {
  for (const statement of ["select nothing", "insert into account values (1)", "select 1 / 0", "select 'x'::uuid"]) {
    const error = await errorOf(transaction(orm, (em) => em.execute(statement)));
    expect(error).toBeInstanceOf(Error);
    expect(isDatabaseUnavailable(error)).toBe(false);
  }
  for (const error of [new Error("simulated failure"), new TypeError("simulated failure"), "text", undefined])
    expect(isDatabaseUnavailable(error)).toBe(false);
});
