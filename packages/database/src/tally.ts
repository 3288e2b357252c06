import { type Logger, poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { namedQuery } from "./named-query.ts";
import type { Orm } from "./orm.ts";
import { transaction } from "./transaction.ts";

/**
 * How many rows of a tenant's table have which values in a few columns with few values each, kept
 * beside the table so that a list can say how many there are without counting them. Triggers add
 * the differences that a statement made, in its own transaction: exact at every moment, and nobody
 * waits for anybody. A new one's migration is `0002-payment-tally.sql` of payments with its names.
 * `startTallyFolding` counts what was there before, and keeps the differences few.
 */
export interface Tally {
  /** The table that is counted; it has a column business_id. */
  readonly table: string;
  /** Columns whose values are told apart. */
  readonly dimensions: readonly string[];
  /** SQL: which of the rows that a list does not show are counted; all unless given. */
  readonly countsHidden?: string;
}

const tableOf = ({ table }: Tally) => `${table}_tally`;
const columnsOf = ({ dimensions }: Tally) => ["business_id", ...dimensions].join(", ");

/**
 * A row of this business says that what was in the table before the tally is not counted yet;
 * nobody reads it until then.
 */
const uncounted = "'00000000-0000-0000-0000-000000000000'";

/**
 * How many rows of a business have these values. Keys of `values` are dimensions of the tally.
 * Undefined: not counted yet.
 */
export async function readTally(
  em: SqlEntityManager,
  tally: Tally,
  businessId: string,
  values: Readonly<Record<string, unknown>>,
): Promise<number | undefined> {
  const dimensions = tally.dimensions.filter((column) => Object.hasOwn(values, column));
  const conditions = dimensions.map((column, i) => ` and ${column} = $${i + 2}`).join("");
  const name = [tableOf(tally), ...dimensions.map((column) => tally.dimensions.indexOf(column))].join("_");
  const [row] = await namedQuery<{ total: number | null }>(
    em,
    name,
    `select case when not exists (select from ${tableOf(tally)} where business_id = ${uncounted})
       then coalesce(sum(difference), 0)::int end as total from ${tableOf(tally)} where business_id = $1${conditions}`,
    [businessId, ...dimensions.map((column) => values[column])],
  );
  return row?.total ?? undefined;
}

const everyMs = 10_000;
const businessesMax = 100;
const differencesKept = 500;

/**
 * Every ten seconds makes one row for each combination of values of businesses that have gathered
 * many differences.
 */
export function startTallyFolding(orm: Orm, tallies: readonly Tally[], logger: Logger): AsyncDisposable {
  const toCount = new Set(tallies);
  const round = async () => {
    for (const tally of toCount) {
      await countEarlier(orm, tally);
      toCount.delete(tally);
    }
    for (const tally of tallies) await foldTally(orm, tally);
    return 0;
  };
  return poll("fold-tallies", logger, round, everyMs);
}

/**
 * Counts, once, what was in the table before its tally. One statement looks at the rows and at the
 * differences made since, so nobody has to wait for it, however long it takes.
 */
export async function countEarlier(orm: Orm, tally: Tally): Promise<void> {
  const name = tableOf(tally);
  const columns = columnsOf(tally);
  await transaction(orm, async (em) => {
    await em.execute("set local statement_timeout = 0");
    await em.execute(
      `with due as (delete from ${name} where business_id = ${uncounted} returning 1)
       insert into ${name} (${columns}, difference, is_sum) select ${columns}, sum(n), true from (
         select ${columns}, 1 as n from ${tally.table}
         union all select ${columns}, -difference from ${name} where business_id <> ${uncounted}
       ) counted where exists (select from due) group by ${columns} having sum(n) <> 0`,
    );
  });
}

/** One statement, so that whoever reads meanwhile sees the differences or their sum. */
export async function foldTally(orm: Orm, tally: Tally, kept: number = differencesKept): Promise<void> {
  const name = tableOf(tally);
  const columns = columnsOf(tally);
  await orm.em.fork().execute(
    `with folded as (
       delete from ${name} where business_id in (
         select business_id from ${name} where not is_sum group by business_id having count(*) > ? limit ${businessesMax}
       ) returning ${columns}, difference
     )
     insert into ${name} (${columns}, difference, is_sum) select ${columns}, sum(difference), true from folded group by ${columns} having sum(difference) <> 0`,
    [kept],
  );
}
