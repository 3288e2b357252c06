import { createOrm, type List, transaction } from "@amana/database";
import { createLogger, forTenant } from "@amana/runtime";
import { copyTestDatabase, type TestDatabaseOptions, withServiceRole } from "@amana/testing";
import { create, type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

const filledRows = 20_000;
const plannedRows = 1_000_000;
const largestBusiness = "0195a000-0000-7000-8000-000000000001";
/** SQL expression for the business of row `i`. One business has a fifth of all rows. */
export const businessOfRow = `case when i % 5 = 0 then '${largestBusiness}' else md5((i % 100)::text) end::uuid`;
/** SQL expression for the creation time of row `i`. */
export const timeOfRow = "now() - interval '20 days' + i * interval '1 minute'";

interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}
interface Pool {
  query(statement: Statement & { tenant?: string }): Promise<{ rows: Record<string, unknown>[] }>;
}
interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Creates a database in which a test can plan the statements of lists as a service does. `fill` is
 * SQL that inserts a row for each `i` of the table `numbers`, which has 20 000 rows. Then
 * `pg_restore_relation_stats` sets the statistics to a million rows, because an insert of a million
 * rows takes minutes.
 */
export async function startListPlans(name: string, database: TestDatabaseOptions, tables: readonly string[], fill: string) {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await copyTestDatabase(name, database));
  const connect = async (options: { url: string; forTenants: boolean }) => {
    const orm = await createOrm({ ...database, ...options, poolMax: 2 }, createLogger("test", "silent"));
    stack.defer(() => orm.close());
    return orm;
  };
  const owner = await connect({ url, forTenants: false });
  await transaction(owner, async (em) => {
    await em.execute("set local statement_timeout = 0");
    await em.execute(`create temporary table numbers on commit drop as select i from generate_series(1, ${filledRows}) i`);
    await em.execute(fill);
    await em.execute("analyze");
    const restored = await em.execute<object[]>(
      `select pg_restore_relation_stats('schemaname', 'public', 'relname', relname::text, 'reltuples', ${plannedRows}::real)
       from pg_class c left join pg_inherits on inhrelid = c.oid where c.relkind = 'r' and coalesce(inhparent, c.oid) = any (?::regclass[])`,
      [`{${tables.join()}}`],
    );
    if (restored.length < tables.length) throw new Error(`one of these tables does not exist: ${tables.join(", ")}`);
  });
  const orm = await connect({ url: withServiceRole(url), forTenants: true });
  const { getNativeClient } = orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> };
  const pool = await getNativeClient.call(orm.em.getConnection());

  const started = stack.move();
  return {
    /**
     * Returns the sequential scans, and the index scans that use neither the business nor the row
     * id. Each is returned with the filter of its request.
     */
    async badScans<R extends DescMessage>(list: List<R, unknown>, request: R): Promise<string[]> {
      const problems: string[] = [];
      for (const filter of [{}, ...request.fields.flatMap(filtersOf)]) {
        const sent: Statement[] = [];
        const query = pool.query;
        pool.query = (statement) => {
          sent.push(statement);
          return query.call(pool, statement);
        };
        const page = create(request, { limit: 50, offset: 0, ...filter } as never) as MessageShape<R>;
        await forTenant(largestBusiness, () => list.page(orm.em as SqlEntityManager, largestBusiness, page));
        pool.query = query;
        for (const statement of sent) {
          const plan = await forTenant(largestBusiness, () => explain(statement));
          for (const scan of scansOf(plan)) problems.push(`${JSON.stringify(filter, bigintToText)}: ${scan}`);
        }
      }
      return problems;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };

  async function explain({ name, text, values }: Statement): Promise<PlanNode> {
    // A named statement has one plan for all values. Other statements are planned for their values.
    const rows = name
      ? await transaction(orm, async (em) => {
          // PostgreSQL rejects a generic plan in the message that begins the transaction.
          await em.execute("select 1");
          return await em.execute<Record<string, unknown>[]>(`explain (generic_plan, format json) ${text}`);
        })
      : (await pool.query({ text: `explain (format json) ${text}`, values, tenant: largestBusiness })).rows;
    const [{ Plan: plan } = {}] = (rows[0]?.["QUERY PLAN"] ?? []) as { Plan?: PlanNode }[];
    if (!plan) throw new Error(`PostgreSQL returned no plan of ${text}`);
    return plan;
  }
}

const bigintToText = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

/** Returns requests in which only this field is set, one for each kind of value. */
function filtersOf(field: DescField): Record<string, unknown>[] {
  const { localName } = field;
  if (localName === "limit" || localName === "offset") return [];
  if (field.fieldKind === "enum") return [{ [localName]: 1 }];
  if (field.scalar === ScalarType.BOOL) return [{ [localName]: true }, { [localName]: false }];
  if (field.scalar === ScalarType.INT64) return [{ [localName]: BigInt(Date.now()) }];
  if (field.scalar === ScalarType.STRING) return [{ [localName]: localName.endsWith("Id") ? largestBusiness : "sample" }];
  throw new TypeError(`no sample value for the type of the filter ${localName}; add one to filtersOf`);
}

function scansOf(node: PlanNode): string[] {
  const childScans = (node.Plans ?? []).flatMap(scansOf);
  const condition = node["Index Cond"] ?? "";
  if (node["Node Type"] === "Seq Scan") return [`sequential scan of ${node["Relation Name"]}`, ...childScans];
  // The rows of a page, and rows that are joined to them, are read by their ids.
  const isByBusinessOrId = /\bbusiness_id\b/.test(condition) || /^\(?id = /.test(condition);
  if (node["Index Name"] !== undefined && !isByBusinessOrId)
    return [`scan of ${node["Index Name"]} with ${condition}`, ...childScans];
  return childScans;
}
