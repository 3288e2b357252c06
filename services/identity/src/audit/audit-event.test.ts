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
])("the database refuses: %s", async (statement) => {
  const before = await content();
  expect(before.length).toBeGreaterThan(0);
  await expect(identity.sql(statement)).rejects.toThrow(/append-only|permission denied/);
  expect(await content()).toEqual(before);
});

test("the table's own role has no right to change it, trigger or not", async () => {
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

test("an action that is not committed is not in the trail", async () => {
  const { id } = await identity.aBusiness();
  const before = await identity.auditOf(id);
  await identity.apiKeys.createApiKey({ businessId: id, name: "till" }, asAdmin);
  await expect(identity.apiKeys.createApiKey({ businessId: id, name: "till" }, asAdmin)).rejects.toThrow();
  expect(await identity.auditOf(id)).toHaveLength(before.length + 1);
});
