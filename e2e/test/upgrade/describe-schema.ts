import type { Client } from "pg";

const ownTables = "c.relnamespace = 'public'::regnamespace";

/**
 * Queries that return a line for each schema item that can affect statements. Two databases with
 * the same lines have the same schema.
 */
const descriptions = [
  `select format('%s %s: %s', c.relkind, c.relname, (select string_agg(acl::text, ' ' order by acl::text) from unnest(c.relacl) acl))
   from pg_class c where ${ownTables} and c.relkind in ('r', 'p', 'S')`,
  `select format('column %s %s: %s %s null: %s identity: %s generated: %s default: %s', c.relname,
     row_number() over (partition by c.oid order by a.attnum), a.attname, format_type(a.atttypid, a.atttypmod), not a.attnotnull,
     a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
   from pg_class c join pg_attribute a on a.attrelid = c.oid left join pg_attrdef d on (d.adrelid, d.adnum) = (c.oid, a.attnum)
   where ${ownTables} and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`,
  `select format('constraint %s %s: %s', c.relname, o.conname, pg_get_constraintdef(o.oid))
   from pg_class c join pg_constraint o on o.conrelid = c.oid where ${ownTables}`,
  `select pg_get_indexdef(i.indexrelid) from pg_class c join pg_index i on i.indrelid = c.oid where ${ownTables}`,
  `select format('%s enabled: %s', pg_get_triggerdef(t.oid), t.tgenabled)
   from pg_class c join pg_trigger t on t.tgrelid = c.oid where ${ownTables} and not t.tgisinternal`,
  `select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = 'public'::regnamespace
     and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
  `select format('sequence %s: %s from %s to %s cycle: %s', sequencename, data_type, min_value, max_value, cycle)
   from pg_sequences where schemaname = 'public'`,
  "select format('extension %s', extname) from pg_extension",
  `select format('partition of %s: %s %s', i.inhparent::regclass, c.relname, pg_get_expr(c.relpartbound, c.oid))
   from pg_inherits i join pg_class c on c.oid = i.inhrelid where ${ownTables} and c.relkind = 'r'`,
];

export async function describeSchema(client: Client): Promise<string[]> {
  const lines: string[] = [];
  for (const description of descriptions) {
    const { rows } = await client.query<[string]>({ text: description, rowMode: "array" });
    lines.push(...rows.map(([line]) => line));
  }
  return lines.sort();
}

/** Returns, for each table, all rows as JSON. A partitioned table includes its partitions' rows. */
export async function readRows(client: Client): Promise<Record<string, object[]>> {
  const { rows: tables } = await client.query<{ name: string }>(
    "select relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1",
  );
  const contents: [string, object[]][] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: object }>(`select to_jsonb(t) as row from ${name} t order by t::text`);
    contents.push([name, rows.map(({ row }) => row)]);
  }
  return Object.fromEntries(contents);
}
