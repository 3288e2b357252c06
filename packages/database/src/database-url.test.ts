import { type EnvSource, type SettingsError, settings } from "@amana/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, logger, unusedEntities } from "../test/test-database.ts";
import { readDatabaseUrl } from "./database-url.ts";
import { isDatabaseReachable } from "./is-database-reachable.ts";
import { createOrm } from "./orm.ts";

const read = settings((env) => ({ url: readDatabaseUrl(env) }));
const role = "role_with_an_odd_password";
const password = "a/b'c\"d%2Fe@f?g#h:i j\\k$l";

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let address: URL;
beforeAll(async () => {
  database = await createTestDatabase();
  const orm = await database.connect();
  const quoted = password.replaceAll("'", "''");
  await orm.em.fork().execute(`create role ${role} login password '${quoted}'`);
  address = new URL(database.url);
  [address.username, address.password] = [role, ""];
});
afterAll(async () => {
  const orm = await database.connect();
  await orm.em.fork().execute(`drop role ${role}`);
  await database[Symbol.asyncDispose]();
});

async function isReachable(url: string): Promise<boolean> {
  const orm = await createOrm({ url, ...unusedEntities, poolMax: 1 }, logger);
  return await isDatabaseReachable(orm).finally(() => orm.close());
}

test("readDatabaseUrl encodes special characters of DATABASE_PASSWORD", async () => {
  const urlWith = (text: string) => read({ DATABASE_URL: address.href, DATABASE_PASSWORD: text }).url;
  expect(await isReachable(urlWith(password))).toBe(true);
  expect(await isReachable(urlWith(`${password}x`))).toBe(false);
});

test("readDatabaseUrl does not change a DATABASE_URL that contains a password", () => {
  expect(read({ DATABASE_URL: "postgres://a:b%2Fc@d/e" }).url).toBe("postgres://a:b%2Fc@d/e");
});

test("readDatabaseUrl rejects two passwords or an invalid URL, with messages that contain no password and no URL", () => {
  const problemsOf = (source: EnvSource) => {
    try {
      read({ DATABASE_PASSWORD: "hidden", ...source });
    } catch (error) {
      return (error as SettingsError).problems.join();
    }
    throw new Error("readDatabaseUrl accepted the settings");
  };
  expect(problemsOf({ DATABASE_URL: "postgres://a:seen@c/d" })).toMatch(/remove one of them/);
  expect(problemsOf({ DATABASE_URL: "secret" })).toMatch(/must be written/);
  for (const DATABASE_URL of ["postgres://a:seen@c/d", "secret"]) {
    expect(problemsOf({ DATABASE_URL })).not.toMatch(/seen|secret|hidden/);
  }
});

test("createOrm does not connect without TLS when the URL requires TLS", async () => {
  const url = new URL(database.url);
  expect(await isReachable(url.href)).toBe(true);
  url.searchParams.set("sslmode", "verify-full");
  // The test server has no certificate, so a connection with TLS must fail.
  expect(await isReachable(url.href)).toBe(false);
});
