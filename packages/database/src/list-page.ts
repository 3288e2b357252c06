import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { namedQuery, plannedQuery } from "./named-query.ts";

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
  /** The column with a row's time: created_at unless given. */
  readonly time?: string | undefined;
}

export interface ListPage<Row> {
  readonly rows: Row[];
  /** Rows that match. Not exact when `totalIsCapped`: then more than `countedMax` match. */
  readonly total: number;
  readonly totalIsCapped: boolean;
}

/**
 * How many rows are asked for unless a caller says otherwise. That many are written into the
 * statement: a limit that the planner does not see makes it plan anew each time.
 */
const usualLimit = 50;

/** Rows are counted up to this number: counting all would read each index entry of a long list. */
export const countedMax = 1_000;

/**
 * Returns a page of a list, newest first (created_at, then id), and how many rows the list has.
 * Long lists need an index on (business_id, created_at desc, id desc), and the same with a filtered
 * column in between where the filter is rare.
 */
export async function listPage<Row>(em: SqlEntityManager, list: ListQuery): Promise<ListPage<Row>> {
  const { name, table, lookUpIn = table, columns, businessId, limit, offset, time = "created_at" } = list;
  const active = list.filters
    .map((filter, i) => ({ filter, i, value: valueFor(filter) }))
    .filter(({ value }) => value !== undefined);
  const values: unknown[] = [];
  const place = (value: unknown) => `$${values.push(value)}`;
  const own = businessId === undefined ? "true" : `business_id = ${place(businessId)}`;
  const where = [own, ...active.map(({ filter }) => conditionOf(filter, place))].join(" and ");
  const newestFirst = `order by ${time} desc, id desc`;
  const rowsOf = `select ${columns} from ${table} where ${own} and id = any`;

  if (active.some(({ filter }) => "contains" in filter)) {
    // One look through what matches answers both, no further than either needs. How common a text
    // is decides how it is best looked for, so the planner has to see it.
    const bound = place(Math.max(countedMax + 1, offset + limit));
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
    return pageOf(rows, total, list);
  }

  const named = (part: string) =>
    [name, part, ...active.map(({ i, value }) => (typeof value === "boolean" ? `${i}${value}` : i))].join("_");
  const count = async () => {
    const text = `select count(*)::int as total from (select from ${lookUpIn} where ${where} limit ${countedMax + 1}) matching`;
    const [row] = await namedQuery<{ total: number }>(em, named("count"), text, values);
    return row?.total ?? 0;
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
  return pageOf(rows, total, list);
}

/**
 * A gateway of the previous version does not know that a total is capped: it shows a next page as
 * long as the total is greater than the end of this one.
 */
function pageOf<Row>(rows: Row[], counted: number, { limit, offset }: ListQuery): ListPage<Row> {
  const totalIsCapped = counted > countedMax;
  const seen = rows.length === limit ? offset + limit + 1 : 0;
  return { rows, total: totalIsCapped ? Math.max(countedMax, seen) : counted, totalIsCapped };
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
