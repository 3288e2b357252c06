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

const content = () => identity.sql("select * from audit_event order by at, id");

test.each([
  "update audit_event set actor = 'someone else'",
  "update audit_event set actor = 'someone else' where false",
  "delete from audit_event",
  "truncate audit_event",
  "truncate audit_event cascade",
  "insert into audit_event select * from audit_event limit 1 on conflict (id) do update set actor = 'someone else'",
  "set local session_replication_role = replica; delete from audit_event",
])("the table audit_event rejects: %s", async (statement) => {
  const before = await content();
  expect(before.length).toBeGreaterThan(0);
  await expect(identity.sql(statement)).rejects.toThrow(/append-only|permission denied/);
  expect(await content()).toEqual(before);
});

test("all partitions of audit_event, also new ones, reject updates, deletions and truncation", async () => {
  const { orm } = identity.context;
  while ((await keepPartitions({ orm, logger: createLogger("test", "silent") })) > 0);
  const parts = await identity.sql<{ name: string; lower: string | null }>(
    "select name, lower from partitions_of('audit_event') order by 1",
  );
  expect(parts.map(({ name }) => name)).toEqual([
    expect.stringMatching(/^audit_event_\d{8}$/),
    "audit_event_default",
    "audit_event_earlier",
  ]);
  // A row in the default partition and one in a new partition.
  for (const id of ["f0000000-0000-7000-8000-000000000000", parts[0]?.lower]) {
    await identity.sql(
      `insert into audit_event (id, at, actor, action, entity_type, entity_id, request_id, address)
       values (?, now(), 'ak', 'business.created', 'business', uuidv7(), 'r', 'a')`,
      [id],
    );
  }
  const before = await content();
  for (const { name } of parts) {
    expect(await identity.sql(`select from ${name}`), name).not.toEqual([]);
    for (const statement of [`update ${name} set actor = 'x'`, `delete from ${name}`, `truncate ${name}`]) {
      await expect(identity.sql(statement), statement).rejects.toThrow(/append-only|permission denied/);
      const asReplica = `set local session_replication_role = replica; ${statement}`;
      await expect(identity.sql(asReplica), asReplica).rejects.toThrow(/append-only|permission denied/);
    }
  }
  expect(await content()).toEqual(before);
});

test("the role of the service has only the privileges INSERT and SELECT on audit_event", async () => {
  const rows = await identity.sql<{ privilege: string; granted: boolean }>(
    `select privilege, bool_or(acl.grantee is not null) as granted
     from unnest(array['INSERT', 'SELECT', 'UPDATE', 'DELETE', 'TRUNCATE']) as privilege
     left join (select (aclexplode(relacl)).* from pg_class where relname = 'audit_event') acl
       on acl.privilege_type = privilege
     group by privilege`,
  );
  const granted = rows.filter((row) => row.granted).map((row) => row.privilege);
  expect(granted.toSorted()).toEqual(["INSERT", "SELECT"]);
});

test("the audit trail contains no action of a failed request", async () => {
  const { id } = await identity.aBusiness();
  const before = await identity.auditOf(id);
  await identity.apiKeys.createApiKey({ businessId: id, name: "till" }, asAdmin);
  await expect(identity.apiKeys.createApiKey({ businessId: id, name: "till" }, asAdmin)).rejects.toThrow();
  expect(await identity.auditOf(id)).toHaveLength(before.length + 1);
});
