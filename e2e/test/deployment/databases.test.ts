import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Databases, ensureDatabases } from "@amana/dev-env/databases";
import { type Postgres, startPostgres } from "@amana/dev-env/postgres";
import { migrateService } from "@amana/dev-env/service-process";
import { servicesWithDatabase } from "@amana/dev-env/services";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabasePasswords } from "../../src/compose-file.ts";

let dir: string;
let postgres: Postgres;
let databases: Databases;
let service: Client;
let log = "";

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "amana-roles-"));
  postgres = await startPostgres({ dataDir: join(dir, "postgres"), durable: false, log: (line) => (log += `${line}\n`) });
  databases = await ensureDatabases(postgres.superuserUrl, ["identity", "clients"], "password");
  await migrateService("identity", { DATABASE_URL: databases.ownerUrls["identity"] ?? "" });
  service = await connect(databases.urls["identity"]);
});
afterAll(async () => {
  await service?.end();
  await postgres?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function connect(connectionString: string | undefined): Promise<Client> {
  const client = new Client({ connectionString });
  await client.connect();
  return client;
}

const insertAuditEvent = `insert into audit_event (id, at, actor, action, entity_type, entity_id, request_id, address)
  values (uuidv7(), now(), 'ak', 'business.created', 'business', gen_random_uuid(), 'r', 'a')`;

describe("the database role of a service", () => {
  test("the database role of a service can read and write rows, and insert audit events", async () => {
    await service.query(
      "insert into business (id, name, status, created_at, updated_at) values (gen_random_uuid(), 'x', 'ACTIVE', now(), now())",
    );
    await service.query("update business set name = 'y'");
    await service.query("delete from business");
    await service.query(insertAuditEvent);
    expect((await service.query("select 1 from audit_event")).rowCount).toBe(1);
  });

  test.each([
    "update audit_event set actor = 'another operator'",
    "delete from audit_event",
    "truncate audit_event",
    "alter table audit_event disable trigger all",
    "drop trigger audit_event_append_only on audit_event",
    "create or replace function audit_event_refuse_change() returns trigger language plpgsql as 'begin return null; end'",
    "grant update on audit_event to amana_identity; update audit_event set actor = 'x'",
    "alter table audit_event owner to amana_identity",
    "create trigger mine before insert on audit_event for each statement execute function audit_event_refuse_change()",
    "create table mine (id int)",
    "truncate business",
    "drop table business",
    "set role amana_identity_owner",
    "set session_replication_role = replica",
    "alter default privileges for role amana_identity_owner in schema public grant all on tables to amana_identity",
    "update partition_rule set gone_below = 'uuid_at(now())'",
    "insert into partition_rule values ('business', 'id', 1, 'uuid_at(now())')",
    "drop table audit_event_earlier",
    "alter table audit_event detach partition audit_event_earlier",
    "delete from audit_event_earlier",
    "select from audit_event_earlier",
    "insert into audit_event_earlier select * from audit_event",
    "select keep_table(('audit_event', 'id', 1, 'uuid_at(now())', true)::partition_rule)",
    "select adopt_earlier(('audit_event', 'id', 1, '', true)::partition_rule, 'audit_event_earlier')",
    "select add_partition(('audit_event', 'id', 1, '', true)::partition_rule, uuidv7(), 'audit_event_earlier')",
    "delete from inbox",
    "delete from mikro_orm_migrations where pg_sleep(0) is null; drop table mikro_orm_migrations",
  ])("the database role of a service is not permitted to run the statement: %s", async (statement) => {
    await expect(service.query(statement)).rejects.toMatchObject({ code: "42501" });
  });

  test("the database role of a service can create partitions with keep_partitions, and cannot read a partition directly", async () => {
    const changes: string[] = [];
    for (let change: string | null = ""; change !== null; ) {
      const { rows } = await service.query<{ change: string | null }>("select keep_partitions() as change");
      change = rows[0]?.change ?? null;
      if (change) changes.push(change);
    }
    expect(changes.join("\n")).toMatch(/audit_event has a new partition: (audit_event_\d+)/);
    await service.query(insertAuditEvent);
    expect((await service.query("select 1 from audit_event")).rowCount).toBe(2);
    const { rows } = await service.query<{ name: string }>("select name from partitions_of('audit_event')");
    expect(rows).toHaveLength(3);
    for (const { name } of rows) await expect(service.query(`select from ${name}`)).rejects.toMatchObject({ code: "42501" });
  });

  test("the database role of a service cannot connect to the database of another service", async () => {
    const url = new URL(databases.urls["identity"] ?? "");
    url.pathname = "/amana_clients";
    await expect(connect(url.toString())).rejects.toMatchObject({ code: "42501" });
  });
});

test("the owner of the database cannot change the table audit_event while the append-only trigger exists", async () => {
  const owner = await connect(databases.ownerUrls["identity"]);
  try {
    for (const statement of ["update audit_event set actor = 'x'", "delete from audit_event", "truncate audit_event"]) {
      await expect(owner.query(statement)).rejects.toThrow(/permission denied|append-only/);
    }
  } finally {
    await owner.end();
  }
});

test("the log of PostgreSQL contains error messages, but no values of statements or rows", async () => {
  const secret = "Zqcanary Benali";
  const insert = `insert into business (id, name, status, created_at, updated_at)
    values ('01890000-0000-7000-8000-000000000000', '${secret}', 'ACTIVE', now(), now())`;
  await service.query(insert);
  await expect(service.query(insert)).rejects.toMatchObject({ code: "23505", detail: expect.stringContaining("01890000") });
  await expect(
    service.query("insert into business (id, name, status) values (gen_random_uuid(), $1, 'NONE')", [secret]),
  ).rejects.toThrow();
  await expect(service.query(`select nothing from business where name = '${secret}'`)).rejects.toThrow();
  // PostgreSQL logs errors in order. If the log contains the last error, it contains all errors.
  await expect.poll(() => log).toContain('column "nothing" does not exist');
  expect(log).toContain("duplicate key value violates unique constraint");
  expect(log).not.toContain("Zqcanary");
  expect(log).not.toContain("01890000");
});

const script = join(import.meta.dirname, "..", "..", "..", "deploy", "postgres", "create-databases.sh");
const passwords = createDatabasePasswords((name) => `it's a "${name}" $1`);
const runScript = (env: Record<string, string>) =>
  promisify(execFile)("sh", [script], { env: { PATH: process.env["PATH"], POSTGRES_USER: "postgres", ...env } });

test("deploy/postgres/create-databases.sh rejects missing and equal passwords before it creates a role", async () => {
  const { KYC_OWNER_PASSWORD: _, ...incomplete } = passwords;
  await expect(runScript(incomplete)).rejects.toThrow(/KYC_OWNER_PASSWORD: must be set/);
  for (const otherSetting of ["POSTGRES_PASSWORD", "IDENTITY_DATABASE_PASSWORD"]) {
    const run = runScript({ ...passwords, KYC_OWNER_PASSWORD: passwords[otherSetting] ?? "" });
    await expect(run).rejects.toThrow(`KYC_OWNER_PASSWORD and ${otherSetting} are equal`);
  }
});

const hasPsql = await promisify(execFile)("psql", ["--version"]).then(
  () => true,
  () => false,
);
if (!hasPsql) process.stderr.write("\nSKIPPED the test of create-databases.sh on a server, because psql is not installed.\n\n");

test.skipIf(!hasPsql)(
  "deploy/postgres/create-databases.sh gives each role its own password, so that a role cannot log in with another role's password",
  async () => {
    const server = await startPostgres({ dataDir: join(dir, "deployment"), durable: false, log: () => {} });
    try {
      const { hostname, port, username, password } = new URL(server.superuserUrl);
      const login = { PGHOST: hostname, PGPORT: port, PGPASSWORD: password, POSTGRES_USER: username };
      await runScript({ ...passwords, ...login, PGDATABASE: "postgres" });
      const roles = servicesWithDatabase.flatMap((name) => [
        [`amana_${name}`, passwords[`${name.toUpperCase()}_DATABASE_PASSWORD`]] as const,
        [`amana_${name}_owner`, passwords[`${name.toUpperCase()}_OWNER_PASSWORD`]] as const,
      ]);
      const canLogIn = async (user: string, triedPassword: string | undefined) => {
        const client = new Client({
          host: hostname,
          port: Number(port),
          user,
          password: triedPassword ?? "",
          database: user.replace("_owner", ""),
        });
        try {
          await client.connect();
          return true;
        } catch (error) {
          expect(error).toMatchObject({ code: "28P01" });
          return false;
        } finally {
          await client.end().catch(() => {});
        }
      };
      for (const [role] of roles) {
        const accepted = await Promise.all(
          roles.map(async ([owner, password]) => ((await canLogIn(role, password)) ? [owner] : [])),
        );
        expect(accepted.flat()).toEqual([role]);
      }
    } finally {
      await server.stop();
    }
  },
);

test("deploy/postgres/create-databases.sh and ensureDatabases give the roles the same rights and log settings", async () => {
  const text = await readFile(script, "utf8");
  const { rows } = await service.query<{ settings: string[] }>(
    "select setconfig as settings from pg_db_role_setting s join pg_roles r on r.oid = s.setrole where rolname = 'amana_identity'",
  );
  expect(rows[0]?.settings).toHaveLength(3);
  for (const setting of rows[0]?.settings ?? []) expect(text).toContain(setting.replace("=", " = "));
  for (const statement of [
    "grant select, insert, update, delete on tables",
    "grant usage on sequences",
    `owner \${role}_owner`,
  ]) {
    expect(text).toContain(statement);
  }
});
