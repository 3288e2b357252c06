import { createTestDatabase, type TestDatabaseOptions } from "@amana/testing";

/** Returns the tables and views with a business_id, but without the tenants' row-level security. */
export async function tablesWithoutTenantPolicy(name: string, database: TestDatabaseOptions): Promise<string[]> {
  await using db = await createTestDatabase(name, database);
  const rows = await db.orm.em.fork().execute<{ name: string }[]>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
       -- Partitions count only if a role other than their owner can read them by their own names.
       and (not c.relispartition or exists (select from aclexplode(c.relacl) where grantee <> c.relowner))
       and a.attname = 'business_id' and not a.attisdropped
       and not (c.relrowsecurity and exists (select from pg_policy where polrelid = c.oid and polname = 'tenants')
         and not exists (select from pg_policy where polrelid = c.oid and polname <> 'tenants' and polpermissive))
       and not (c.relkind = 'v' and 'check_option=cascaded' = any (c.reloptions) and pg_get_viewdef(c.oid) like '%amana.business%')
     order by name`,
  );
  return rows.map((row) => row.name);
}
