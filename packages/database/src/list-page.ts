import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { namedQuery, plannedQuery } from "./named-query.ts";
import { readTally, type Tally } from "./tally.ts";

/** What the rows of a list must be. A filter whose value is undefined does not count. */
export type Filter =
  | { readonly column: string; readonly is: unknown }
  /**
   * A text that a person typed is part of the column's, which is in lower case; `%`, `_` and `\`
   * are ordinary characters. Numbers are often typed in groups: `spaceless` is a part of the column
   * in which the text's white space does not count.
   */
  | { readonly column: string; readonly contains: string | undefined; readonly spaceless?: string }
  /** `?` stands for the value, as often as it occurs. */
  | { readonly sql: string; readonly value: unknown }
  | { readonly always: string };

export interface ListQuery {
  /** Unique to the table, the columns and the filters: statements are prepared under it. */
  readonly name: string;
  readonly table: string;
  /** Where its rows are looked up by their conditions; the table unless given. */
  readonly lookUpIn?: string;
  /** What to select of a row. */
  readonly columns: string;
  /** Whose rows; left out only for a table of the platform. */
  readonly businessId?: string;
  readonly filters: readonly Filter[];
  readonly limit: number;
  readonly offset: number;
  /**
   * For long lists: says how many there are when all filters are equalities of its dimensions. What
   * `always` leaves out is counted and taken off, so it should be little.
   */
  readonly tally?: Tally;
  /** The column with a row's time: created_at unless given. */
  readonly time?: string | undefined;
}

export interface ListPage<Row> {
  readonly rows: Row[];
  /** How many match. */
  readonly total: number;
  /** True when there are more, and counting them would make the page slow. */
  readonly totalIsCapped: boolean;
}

/**
 * How many rows are asked for unless a caller says otherwise. That many are written into the
 * statement: a limit that the planner does not see makes it plan anew each time.
 */
const usualLimit = 50;

/** What a search finds is counted this far. */
export const searchTotalMax = 1_000;

/**
 * A page of a list, newest first (created_at, then id), and how many rows it has in all. Long lists
 * need an index on (business_id, created_at desc, id desc), and the same with a filtered column in
 * between where the filter is common.
 */
export async function listPage<Row>(em: SqlEntityManager, list: ListQuery): Promise<ListPage<Row>> {
  const { name, table, lookUpIn = table, columns, businessId, limit, offset, tally, time = "created_at" } = list;
  const active = list.filters
    .map((filter, i) => ({ filter, i, value: valueFor(filter) }))
    .filter(({ value }) => value !== undefined);
  const values: unknown[] = [];
  const place = (value: unknown) => `$${values.push(value)}`;
  const own = businessId === undefined ? "true" : `business_id = ${place(businessId)}`;
  const conditions = active.map(({ filter }) => ({ isAlways: "always" in filter, sql: conditionOf(filter, place) }));
  const where = [own, ...conditions.map(({ sql }) => sql)].join(" and ");
  const matching = [own, ...conditions.flatMap(({ isAlways, sql }) => (isAlways ? [] : [sql]))];
  const newestFirst = `order by ${time} desc, id desc`;
  const rowsOf = `select ${columns} from ${table} where ${own} and id = any`;

  if (active.some(({ filter }) => "contains" in filter)) {
    // One look through what matches answers both, no further than either needs. How common a text
    // is decides how it is best looked for, so the planner has to see it.
    const bound = place(Math.max(searchTotalMax + 1, offset + limit));
    const [found] = await plannedQuery<{ total: number; ids: string[] }>(
      em,
      `with found as materialized (
         select id, ${time} from ${lookUpIn} where ${where} ${newestFirst} limit ${bound}
       ) select (select count(*) from found)::int as total,
         array(select id from found ${newestFirst} limit ${place(limit)} offset ${place(offset)}) as ids`,
      values,
    );
    const { total = 0, ids = [] } = found ?? {};
    const owned = businessId === undefined ? [] : [businessId];
    const text = `${rowsOf} ($${owned.length + 1}) ${newestFirst}`;
    const rows = ids.length === 0 ? [] : await namedQuery<Row>(em, `${name}_found`, text, [...owned, ids]);
    return { rows, total: Math.min(total, searchTotalMax), totalIsCapped: total > searchTotalMax };
  }

  const named = (part: string) =>
    [name, part, ...active.map(({ i, value }) => (typeof value === "boolean" ? `${i}${value}` : i))].join("_");
  const count = async () => {
    const countBy = async (part: string, condition: string) => {
      const text = `select count(*)::int as total from ${lookUpIn} where ${condition}`;
      const [row] = await namedQuery<{ total: number }>(em, named(part), text, values);
      return row?.total ?? 0;
    };
    const tallied = tally && talliedValues(tally, active);
    const total = tallied && businessId !== undefined ? await readTally(em, tally, businessId, tallied) : undefined;
    if (total === undefined) return await countBy("count", where);
    // Few, like events that have become too old since the tally was told.
    const hidden = active.flatMap(({ filter }) => ("always" in filter ? [`not (${filter.always})`] : []));
    return hidden.length === 0
      ? total
      : total - (await countBy("hidden", [...matching, `(${hidden.join(" or ")})`, tally?.countsHidden ?? "true"].join(" and ")));
  };
  const isUsual = limit === usualLimit && offset === 0;
  const part = isUsual ? `limit ${usualLimit}` : `limit $${values.length + 1} offset $${values.length + 2}`;
  const page = () =>
    namedQuery<Row>(
      em,
      named(isUsual ? "first" : "page"),
      // What is skipped is skipped in the index: whole rows are read for the page only.
      `${rowsOf} (array(select id from ${lookUpIn} where ${where} ${newestFirst} ${part})) ${newestFirst}`,
      isUsual ? values : [...values, limit, offset],
    );
  const [rows, total] = await Promise.all([page(), count()]);
  return { rows, total, totalIsCapped: false };
}

function valueFor(filter: Filter): unknown {
  if ("always" in filter) return true;
  if ("is" in filter) return filter.is;
  return "sql" in filter ? filter.value : filter.contains;
}

function conditionOf(filter: Filter, place: (value: unknown) => string): string {
  if ("always" in filter) return filter.always;
  // Spelt out, so that an index on the rare ones of the two can be used.
  if ("is" in filter && typeof filter.is === "boolean") return filter.is ? filter.column : `not ${filter.column}`;
  if ("is" in filter) return `${filter.column} = ${place(filter.is)}`;
  if ("sql" in filter) {
    return filter.sql.replaceAll("?", typeof filter.value === "boolean" ? String(filter.value) : place(filter.value));
  }
  const { column, contains = "", spaceless } = filter;
  const like = (name: string, text: string) => `${name} like lower(${place(`%${literally(text)}%`)})`;
  const grouped = contains.replaceAll(/\s/g, "");
  if (spaceless === undefined || grouped === contains || grouped === "") return like(column, contains);
  return `(${like(column, contains)} or (${like(column, grouped)} and ${like(spaceless, grouped)}))`;
}

/** A text without the special characters of LIKE. */
const literally = (text: string) => text.replaceAll(/[\\%_]/g, String.raw`\$&`);

/** The value of each filtered column; undefined when a filter is no equality of dimensions. */
function talliedValues(
  { dimensions }: Tally,
  active: readonly { filter: Filter; value: unknown }[],
): Record<string, unknown> | undefined {
  const values: Record<string, unknown> = {};
  for (const { filter, value } of active) {
    if ("always" in filter) continue;
    if (!("is" in filter) || !dimensions.includes(filter.column)) return undefined;
    values[filter.column] = value;
  }
  return values;
}
