import { keepPartitions } from "@amana/database";
import { createLogger } from "@amana/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
  await identity.aBusiness();
});
afterAll(() => identity[Symbol.asyncDispose]());

const readContent = () => identity.sql("select * from audit_event order by at, id");

test.each([
  "update audit_event set actor = 'someone else'",
  "update audit_event set actor = 'someone else' where false",
  "delete from audit_event",
  "truncate audit_event",
  "truncate audit_event cascade",
  "insert into audit_event select * from audit_event limit 1 on conflict (id) do update set actor = 'someone else'",
  "set local session_replication_role = replica; delete from audit_event",
])("the table audit_event rejects the statement: %s", async (statement) => {
  const contentBefore = await readContent();
  expect(contentBefore.length).toBeGreaterThan(0);
  await expect(identity.sql(statement)).rejects.toThrow(/append-only|permission denied/);
  expect(await readContent()).toEqual(contentBefore);
});

test("the table audit_event rejects updates, deletions and truncation in all partitions, including new partitions", async () => {
  const { orm } = identity.context;
  while ((await keepPartitions({ orm, logger: createLogger("test", "silent") })) > 0);
  const partitions = await identity.sql<{ name: string; lower: string | null }>(
    "select name, lower from partitions_of('audit_event') order by 1",
  );
  expect(partitions.map(({ name }) => name)).toEqual([
    expect.stringMatching(/^audit_event_\d{8}$/),
    "audit_event_default",
    "audit_event_earlier",
  ]);
  // Inserts a row into the default partition and a row into a new partition.
  for (const id of ["f0000000-0000-7000-8000-000000000000", partitions[0]?.lower]) {
    await identity.sql(
      `insert into audit_event (id, at, actor, action, entity_type, entity_id, request_id, address)
       values (?, now(), 'ak', 'business.created', 'business', uuidv7(), 'r', 'a')`,
      [id],
    );
  }
  const contentBefore = await readContent();
  for (const { name } of partitions) {
    expect(await identity.sql(`select from ${name}`), name).not.toEqual([]);
    for (const statement of [`update ${name} set actor = 'x'`, `delete from ${name}`, `truncate ${name}`]) {
      await expect(identity.sql(statement), statement).rejects.toThrow(/append-only|permission denied/);
      const replicaStatement = `set local session_replication_role = replica; ${statement}`;
      await expect(identity.sql(replicaStatement), replicaStatement).rejects.toThrow(/append-only|permission denied/);
    }
  }
  expect(await readContent()).toEqual(contentBefore);
});

test("the database role of identity has only the privileges INSERT and SELECT on audit_event", async () => {
  const rows = await identity.sql<{ privilege: string; granted: boolean }>(
    `select privilege, bool_or(acl.grantee is not null) as granted
     from unnest(array['INSERT', 'SELECT', 'UPDATE', 'DELETE', 'TRUNCATE']) as privilege
     left join (select (aclexplode(relacl)).* from pg_class where relname = 'audit_event') acl
       on acl.privilege_type = privilege
     group by privilege`,
  );
  const grantedPrivileges = rows.filter((row) => row.granted).map((row) => row.privilege);
  expect(grantedPrivileges.toSorted()).toEqual(["INSERT", "SELECT"]);
});

test("createApiKey writes no audit row when it rejects a request", async () => {
  const { id } = await identity.aBusiness();
  const rowsBefore = await identity.readAuditRows(id);
  await identity.apiKeys.createApiKey({ businessId: id, name: "till" }, asAdmin);
  await expect(identity.apiKeys.createApiKey({ businessId: id, name: "till" }, asAdmin)).rejects.toThrow();
  expect(await identity.readAuditRows(id)).toHaveLength(rowsBefore.length + 1);
});
