import { once } from "node:events";
import net from "node:net";
import { checksumOf, migrate } from "@amana/database";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { createLogger, settings } from "@amana/runtime";
import { copyTestDatabase } from "@amana/testing";
import { defineEntity, p } from "@mikro-orm/postgresql";
import { expect, test } from "vitest";
import { startTestService } from "../test/index.ts";
import { readServiceConfig } from "./service-config.ts";
import type { Service } from "./start-service.ts";

const Thing = defineEntity({ name: "Thing", properties: { id: p.integer().primary() } });
const migration = { name: "0001-things", sql: "create table thing (id int primary key)" };
const database = { entities: [Thing], migrations: [{ ...migration, checksum: checksumOf(migration) }] };
const service: Service<ReturnType<typeof readServiceConfig>, { orm: never }> = {
  name: "things",
  database,
  readConfig: settings((env) => readServiceConfig(env, {})),
  createContext: ({ orm }) => ({ orm: orm as never }),
  rpcServices: () => [],
};

test("a service that starts while its database is unreachable becomes ready when the database is reachable and migrated", async () => {
  await using emptyDatabase = await copyTestDatabase("empty", { ...database, migrations: [] });
  const databaseAddress = new URL(emptyDatabase.url);
  const port = await freePort();
  const url = new URL(emptyDatabase.url);
  url.port = String(port);
  await using running = await startTestService(service as never, { databaseUrl: url.href });
  expect(await running.isReady()).toBe(false);

  const proxy = net.createServer((socket) => {
    const upstream = net.connect(Number(databaseAddress.port), databaseAddress.hostname);
    socket.pipe(upstream).pipe(socket);
    socket.on("error", () => upstream.destroy());
    upstream.on("error", () => socket.destroy());
  });
  await once(proxy.listen(port, "127.0.0.1"), "listening");
  await using _proxy = { [Symbol.asyncDispose]: async () => void proxy.close() };
  // The database is reachable now, but without the migration of this version.
  await eventually(async () => expect(await running.sql("select 1 as one")).toEqual([{ one: 1 }]));
  // The readiness result is cached for a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(await running.isReady()).toBe(false);
  await migrate({ ...database, url: emptyDatabase.url }, createLogger("test", "silent"));
  await eventually(async () => expect(await running.isReady()).toBe(true));
});
