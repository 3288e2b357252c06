import { randomUUID } from "node:crypto";
import { type Orm, preparedQuery } from "@amana/database";
import type { FairSemaphore } from "@amana/runtime";
import { incrementVersionSql, leaseIsFreeSql } from "./lease.ts";

/**
 * A table whose rows are claimed when they are due. All strings are SQL from code, never from a
 * request. The table needs two indexes with the condition `plannedCondition`: one on `dueAt`, and
 * one on `business_id`, `key` and `order`.
 */
export interface DueTable {
  readonly table: string;
  /**
   * Condition of rows that have a due time. It is also the condition of both indexes. Default:
   * `dueAt` is not null.
   */
  readonly plannedCondition?: string;
  /** SQL expression for the due time of a row, exactly as in the index on `dueAt`. */
  readonly dueAt: string;
  /**
   * SQL expression for the due time, exactly as in the index that begins with `business_id`.
   * Default: `dueAt`. A table with `key` needs an expression that differs from `dueAt`, so that
   * PostgreSQL cannot use the index on `dueAt` for the rows of a group.
   */
  readonly dueAtOfGroup?: string;
  /** Second grouping column. The rows with the same value share a limit. */
  readonly key?: string;
  /**
   * Expressions that order the rows of a tenant, or of a key; default `dueAtOfGroup`. With another
   * order, a claim reads all due rows of the groups with free slots. While at least `soonestMax`
   * rows are due, the claim instead reads rows in this order until it finds enough due rows. It
   * then also reads rows that become due later.
   */
  readonly order?: string;
  /** True if the table has the ORM's column `version`. */
  readonly hasVersion?: boolean;
  /** A SELECT statement that reads the claimed rows from the CTE `claimed`. */
  readonly select: string;
}

/** Due rows with the same tenant, and with the same key if the table has a key. */
export interface DueGroup {
  readonly tenant: string;
  readonly key: string;
  /**
   * Ids of all due rows of the group. Defined if the search found all due rows and the table has an
   * order other than the due time.
   */
  readonly ids?: readonly string[];
}

interface FoundGroups {
  readonly groups: readonly DueGroup[];
  /**
   * True if this search did not reach all groups. The next call continues with the other groups.
   */
  readonly hasMore: boolean;
}

/** Maximum number of due rows that a search reads. */
const soonestMax = 500;
/** Maximum number of groups that a search steps through. */
const steppedMax = 1_000;
const lowestId = "00000000-0000-0000-0000-000000000000";

const plannedSql = ({ dueAt, plannedCondition = `${dueAt} is not null` }: DueTable) => plannedCondition;
/**
 * Returns an SQL condition that selects the same rows but matches no index. PostgreSQL evaluates
 * the condition for each row, and expects that almost all rows meet the condition.
 */
const evaluatedPerRow = (condition: string) => `nullif(${condition}, false) is not null`;

const isOrderedByDueAt = ({ dueAt, dueAtOfGroup = dueAt, order = dueAtOfGroup }: DueTable) => order === dueAtOfGroup;

/**
 * Creates a function that finds groups with due rows. Usually few rows are due, and a search finds
 * all of them in the index on the due time. If at least `soonestMax` rows are due, the oldest rows
 * may all belong to one tenant. The search then also steps through the groups that have planned
 * rows. Each step is one index probe, independent of the number of rows in the group.
 *
 * PostgreSQL keeps the plan of a prepared statement until it analyzes the table again. Meanwhile,
 * thousands of rows can become due. The statements in this file are written so that PostgreSQL
 * chooses plans that do not read all due rows, even if few rows are due at the time of planning.
 */
export function createDueSearch(orm: Orm, due: DueTable): () => Promise<FoundGroups> {
  const { table, dueAt, key } = due;
  const columns = key ? `business_id, ${key}` : "business_id";
  const tenantAndKey = `business_id as tenant, ${key ?? "business_id"} as key`;
  const nextGroupSql = (after: string) =>
    `select ${columns} from ${table} where ${plannedSql(due)} and (${columns}) > (${after}) order by ${columns} limit 1`;
  const after = key ? "$1::uuid, $2::uuid" : "$1::uuid";
  const afterStep = key ? `stepped.business_id, stepped.${key}` : "stepped.business_id";
  const idsOfGroup = isOrderedByDueAt(due) ? "" : ", array_agg(id) as ids";
  // The default condition is omitted, because `dueAt <= now()` implies it. With both conditions,
  // PostgreSQL would expect too few rows.
  const isDue = `${due.plannedCondition ? `${due.plannedCondition} and ` : ""}${dueAt} <= now()`;
  let cursor: DueGroup = { tenant: lowestId, key: lowestId };

  return async () => {
    const em = orm.em.fork();
    // The limit is a subquery, because PostgreSQL then expects to read a tenth of the rows, and
    // reads them in the order of the index. With a constant limit, PostgreSQL may read and sort all
    // due rows.
    const soonest = await preparedQuery<DueGroup & { read: number }>(
      em,
      `with soonest as materialized (
         select id, ${tenantAndKey} from ${table} where ${isDue} and ${evaluatedPerRow(leaseIsFreeSql)}
         order by ${dueAt} limit (select ${soonestMax})
       ) select tenant, key${idsOfGroup}, sum(count(*)) over ()::int as read from soonest group by tenant, key`,
      [],
    );
    if ((soonest[0]?.read ?? 0) < soonestMax) return { groups: soonest, hasMore: false };
    const stepped = await preparedQuery<DueGroup>(
      em,
      `with recursive stepped as (
         (select first.*, 1 as step from (${nextGroupSql(after)}) first) union all
         select following.*, step + 1 from stepped cross join lateral (${nextGroupSql(afterStep)}) following where step < ${steppedMax}
       ) select ${tenantAndKey} from stepped`,
      key ? [cursor.tenant, cursor.key] : [cursor.tenant],
    );
    const lastGroup = stepped.at(-1);
    const hasMore = stepped.length === steppedMax && lastGroup !== undefined;
    cursor = hasMore ? lastGroup : { tenant: lowestId, key: lowestId };
    // Omits the ids, because the groups may have more due rows than this search found.
    const groups = [...soonest, ...stepped].map(({ tenant, key }) => ({ tenant, key }));
    return { groups: removeDuplicates(groups), hasMore };
  };
}

const removeDuplicates = (groups: readonly DueGroup[]): DueGroup[] => [
  ...new Map(groups.map((group) => [`${group.tenant} ${group.key}`, group])).values(),
];

/**
 * Claims at most `limit` due rows of the groups. The statement writes a lease into each row, so
 * that other replicas do not claim it. Rows of the tenant that uses the fewest `slots` come first,
 * so that tenants share the slots fairly. A tenant or key gets at most as many rows as it has free
 * slots. Skips rows that another replica claims at the same time, and rows whose ids are in
 * `except`.
 */
export async function claimDue<Row>(
  orm: Orm,
  due: DueTable,
  groups: readonly DueGroup[],
  slots: FairSemaphore,
  { limit, leaseMs, except = [] }: { limit: number; leaseMs: number; except?: readonly string[] },
): Promise<Row[]> {
  const { perTenant, perKey } = slots.limits;
  const groupsWithSlots = groups.flatMap(({ tenant, key, ids }) => {
    const usedSlots = slots.usedAndQueued(tenant);
    const freeSlots = Math.min(perTenant - usedSlots, due.key ? perKey - slots.usedAndQueued(tenant, key) : perTenant);
    return freeSlots > 0 ? [{ tenant, key, ids, used: usedSlots, free: freeSlots }] : [];
  });
  if (groupsWithSlots.length === 0 || limit <= 0) return [];
  const { table, dueAtOfGroup = due.dueAt, key, order = dueAtOfGroup, select } = due;
  const isFree = evaluatedPerRow(`${leaseIsFreeSql} and id <> all($2::uuid[])`);
  const areIdsKnown = groupsWithSlots.every(({ ids }) => ids !== undefined);
  const isStillDue = evaluatedPerRow(`${plannedSql(due)} and ${dueAtOfGroup} <= now() and ${leaseIsFreeSql}`);
  // "id = any(array(…))" makes PostgreSQL read the rows by primary key. With "in" or a join,
  // PostgreSQL may read all due rows.
  return await preparedQuery<Row>(
    orm.em.fork(),
    `with candidate as (
       select c.id, c.rank, g.used + row_number() over (partition by g.tenant order by c.rank) as turn
       from jsonb_to_recordset($1::jsonb) as g (tenant uuid, key uuid, ids uuid[], used int, free int) cross join lateral (
         select id, row(${order}) as rank from ${table}
         where ${areIdsKnown ? `id = any(g.ids) and ${isStillDue}` : dueOfGroupSql(due)} and ${isFree}
         order by ${key || areIdsKnown ? order : `business_id, ${order}`} limit g.free
       ) c
     ), mine as (
       select id from ${table}
       where id = any(array(select id from candidate where turn <= $3 order by turn, rank limit $4)) and ${isStillDue}
       for update skip locked
     ), claimed as (
       update ${table} t set leased_until = now() + $5 * interval '1 millisecond', lease_token = $6::uuid${due.hasVersion ? `, ${incrementVersionSql}` : ""}
       where t.id = any(array(select id from mine)) returning t.*
     ) ${select}`,
    [JSON.stringify(groupsWithSlots), except, perTenant, limit, leaseMs, randomUUID()],
  );
}

/**
 * Returns the SQL condition that selects the due rows of a group `g`. The due time in the condition
 * matches only the index that begins with `business_id`, not the index on `dueAt`.
 */
function dueOfGroupSql(due: DueTable): string {
  const { dueAt, dueAtOfGroup = dueAt, key } = due;
  const planned = plannedSql(due);
  if (key) return `${planned} and business_id = g.tenant and ${key} = g.key and ${dueAtOfGroup} <= now()`;
  if (isOrderedByDueAt(due))
    return `${planned} and business_id >= g.tenant and (business_id, ${dueAtOfGroup}) <= (g.tenant, now())`;
  // The claim uses this condition only if the search did not find all due rows. PostgreSQL also
  // reads rows that become due later, because the index is not in the order of the due time. The
  // condition has "between", because with "=" PostgreSQL may sort the rows instead of using the
  // index's order.
  return `${planned} and business_id between g.tenant and g.tenant and ${evaluatedPerRow(`${dueAtOfGroup} <= now()`)}`;
}
