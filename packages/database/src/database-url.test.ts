import { type EnvSource, type SettingsError, settings } from "@amana/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aDatabase, logger, unused } from "../test/a-database.ts";
import { databaseAnswers } from "./database-answers.ts";
import { readDatabaseUrl } from "./database-url.ts";
import { createOrm } from "./orm.ts";

const read = settings((env) => ({ url: readDatabaseUrl(env) }));
const role = "role_with_an_odd_password";
const password = "a/b'c\"d%2Fe@f?g#h:i j\\k$l";

let database: Awaited<ReturnType<typeof aDatabase>>;
let address: URL;
beforeAll(async () => {
  database = await aDatabase();
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

async function answers(url: string): Promise<boolean> {
  const orm = await createOrm({ url, ...unused, poolMax: 1 }, logger);
  return await databaseAnswers(orm).finally(() => orm.close());
}

test("a password of any characters opens the database, and another one does not", async () => {
  const urlWith = (given: string) => read({ DATABASE_URL: address.href, DATABASE_PASSWORD: given }).url;
  expect(await answers(urlWith(password))).toBe(true);
  expect(await answers(urlWith(`${password}x`))).toBe(false);
});

test("a password in the address alone stays as it is", () => {
  expect(read({ DATABASE_URL: "postgres://a:b%2Fc@d/e" }).url).toBe("postgres://a:b%2Fc@d/e");
});

test("two passwords, or an address that is none, are refused, and the message repeats neither", () => {
  const problemsOf = (source: EnvSource) => {
    try {
      read({ DATABASE_PASSWORD: "hidden", ...source });
    } catch (error) {
      return (error as SettingsError).problems.join();
    }
    throw new Error("was taken");
  };
  expect(problemsOf({ DATABASE_URL: "postgres://a:seen@c/d" })).toMatch(/leave one out/);
  expect(problemsOf({ DATABASE_URL: "secret" })).toMatch(/must be written/);
  for (const DATABASE_URL of ["postgres://a:seen@c/d", "secret"]) {
    expect(problemsOf({ DATABASE_URL })).not.toMatch(/seen|secret|hidden/);
  }
});

test("where the address asks for TLS, nothing is sent without it", async () => {
  const url = new URL(database.url);
  expect(await answers(url.href)).toBe(true);
  url.searchParams.set("sslmode", "verify-full");
  // This server has no certificate.
  expect(await answers(url.href)).toBe(false);
});
