import { createOrm, type List, transaction } from "@amana/database";
import { createLogger, forTenant } from "@amana/runtime";
import { copyTestDatabase, type TestDatabaseOptions, withServiceRole } from "@amana/testing";
import { create, type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

const filledRows = 20_000;
const plannedRows = 1_000_000;
const largestBusiness = "0195a000-0000-7000-8000-000000000001";
/** Value of an id in a sample filter. */
export const sampleId = largestBusiness;
/** SQL expression for the business of row `i`. One business has a fifth of all rows. */
export const businessOfRow = `case when i % 5 = 0 then '${largestBusiness}' else md5((i % 100)::text) end::uuid`;
/**
 * SQL conditions on `i` for the data sets of `longReads`. In each row that meets the condition, the
 * filtered columns have the sample values of `filtersOf`.
 */
export const skews = { "one business": "i % 5 = 0", "all businesses": "true" };
/** SQL expression for the creation time of row `i`. */
export const timeOfRow = "now() - interval '20 days' + i * interval '1 minute'";

/**
 * Maximum number of rows and index entries that a list with one filter may read. The list counts
 * up to 1 001 rows. For a page, it reads 50 index entries and then 50 rows. The plan of a bitmap
 * scan counts these rows twice, as index entries and as rows.
 */
const readMax = 1_001 + 3 * 50;

interface Statement {
  readonly isPrepared?: boolean;
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
  readonly "Actual Rows"?: number;
  readonly "Actual Loops"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Creates a database in which a test can plan the statements of lists as a service does. `fill` is
 * SQL that inserts a row for each `i` of the table `numbers`, which has 20 000 rows. Then
 * `pg_restore_relation_stats` sets the statistics to those of a vacuumed table with a million rows,
 * because an insert of a million rows takes minutes.
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
      `select pg_restore_relation_stats('schemaname', 'public', 'relname', relname::text, 'reltuples', ${plannedRows}::real,
         'relallvisible', relpages)
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
        for (const statement of await statementsOf(list, request, filter)) {
          for (const scan of scansOf(await explain(statement))) problems.push(`${textOf(filter)}: ${scan}`);
        }
      }
      return problems;
    },
    /**
     * Executes the list twice for each filter: with a value that all rows of the business have, and
     * with a value that no row has. Returns the filters with which a statement reads more than
     * `readMax` rows. PostgreSQL plans a prepared statement for its values or for all values, so
     * both plans are executed. Omits `costlyFilters` and `search`, because the gateway has lower
     * limits for them (`isCostlyRead`).
     */
    async longReads<R extends DescMessage>(list: List<R, unknown>, request: R, costlyFilters: readonly string[] = []) {
      const problems: string[] = [];
      const fields = request.fields.filter(({ localName }) => !["search", ...costlyFilters].includes(localName));
      for (const filter of [{}, ...fields.flatMap((field) => [...filtersOf(field), ...absentFiltersOf(field)])]) {
        for (const statement of await statementsOf(list, request, filter)) {
          for (const mode of ["force_generic_plan", "force_custom_plan"]) {
            const rows = readRowsOf(await execute(statement, mode));
            if (rows > readMax) problems.push(`${textOf(filter)}, ${mode}: ${rows} rows`);
          }
        }
      }
      return problems;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };

  /** Returns the statements that a list sends for a request with a filter. */
  async function statementsOf<R extends DescMessage>(list: List<R, unknown>, request: R, filter: object): Promise<Statement[]> {
    const sent: Statement[] = [];
    const query = pool.query;
    pool.query = (statement) => {
      sent.push(statement);
      return query.call(pool, statement);
    };
    const page = create(request, { limit: 50, offset: 0, ...filter } as never) as MessageShape<R>;
    await forTenant(largestBusiness, () => list.page(orm.em as SqlEntityManager, largestBusiness, page));
    pool.query = query;
    return sent;
  }

  async function explain({ isPrepared, text, values }: Statement): Promise<PlanNode> {
    // A prepared statement usually has one plan for all values. Other statements are planned for
    // their values.
    return isPrepared
      ? await inTransaction(async (read) => planOf(text, await read(`explain (generic_plan, format json) ${text}`)))
      : planOf(text, (await pool.query({ text: `explain (format json) ${text}`, values, tenant: largestBusiness })).rows);
  }

  /** Executes a statement and returns its plan with the numbers of rows that it read. */
  async function execute({ text, values }: Statement, planCacheMode: string): Promise<PlanNode> {
    return await inTransaction(async (read) => {
      await read(`set local plan_cache_mode = ${planCacheMode}`);
      await read(`prepare list as ${text}`);
      const rows = await read(`explain (analyze, timing off, format json) execute list (${values.map(literalOf).join()})`);
      await read("deallocate list");
      return planOf(text, rows);
    });
  }

  async function inTransaction<T>(work: (read: (sql: string) => Promise<Record<string, unknown>[]>) => Promise<T>): Promise<T> {
    return await forTenant(largestBusiness, () =>
      transaction(orm, async (em) => {
        // PostgreSQL rejects a generic plan in the message that begins the transaction.
        await em.execute("select 1");
        return await work((sql) => em.execute<Record<string, unknown>[]>(sql));
      }),
    );
  }
}

function planOf(text: string, rows: Record<string, unknown>[]): PlanNode {
  const [{ Plan: plan } = {}] = (rows[0]?.["QUERY PLAN"] ?? []) as { Plan?: PlanNode }[];
  if (!plan) throw new Error(`PostgreSQL returned no plan of ${text}`);
  return plan;
}

function literalOf(value: unknown): string {
  const text = value instanceof Date ? value.toISOString() : Array.isArray(value) ? `{${value.join()}}` : String(value);
  return `'${text.replaceAll("'", "''")}'`;
}

const textOf = (filter: object) =>
  JSON.stringify(filter, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));

/** Returns requests in which only this field is set, one for each kind of value. */
function filtersOf(field: DescField): Record<string, unknown>[] {
  const { localName } = field;
  if (localName === "limit" || localName === "offset") return [];
  if (field.fieldKind === "enum") return [{ [localName]: 1 }];
  if (field.scalar === ScalarType.BOOL) return [{ [localName]: true }, { [localName]: false }];
  if (field.scalar === ScalarType.INT64) return [{ [localName]: BigInt(Date.now()) }];
  if (field.scalar === ScalarType.STRING) return [{ [localName]: localName.endsWith("Id") ? sampleId : "sample" }];
  throw new TypeError(`no sample value for the type of the filter ${localName}; add one to filtersOf`);
}

/** Returns requests in which only this field is set, with a value that no row of `skews` has. */
function absentFiltersOf(field: DescField): Record<string, unknown>[] {
  const { localName } = field;
  if (localName === "limit" || localName === "offset") return [];
  if (field.fieldKind === "enum") return [{ [localName]: 2 }];
  const absent = localName.endsWith("Id") ? "0195a000-0000-7000-8000-000000000002" : "absent";
  return field.scalar === ScalarType.STRING ? [{ [localName]: absent }] : [];
}

/** Returns the number of rows and index entries that the scans of a plan have read. */
function readRowsOf(node: PlanNode): number {
  const isScan = node["Relation Name"] !== undefined || node["Index Name"] !== undefined;
  const rows = (node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0);
  return (node.Plans ?? []).reduce((sum, child) => sum + readRowsOf(child), isScan ? rows * (node["Actual Loops"] ?? 1) : 0);
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
