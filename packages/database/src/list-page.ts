import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { plannedQuery, preparedQuery } from "./prepared-query.ts";

/** Condition of the rows of a list. A filter whose value is undefined has no effect. */
export type Filter =
  | { readonly column: string; readonly is: unknown }
  /**
   * Search for a text that a person typed. The column must contain only lower case. The search
   * treats `%`, `_` and `\` as ordinary characters. People often type spaces within numbers.
   * Therefore the search also finds rows in which both the column and the SQL expression
   * `spaceless` contain the text without its white space.
   */
  | { readonly column: string; readonly contains: string | undefined; readonly spaceless?: string }
  /** SQL condition in which the value replaces each `?`. */
  | { readonly sql: string; readonly value: unknown }
  | { readonly always: string };

export interface ListQuery {
  readonly table: string;
  /** Table or view on which the filters are evaluated. Default: `table`. */
  readonly lookUpIn?: string;
  /** Columns to select. */
  readonly columns: string;
  /** Owner of the rows. Omit it only for a table of the platform. */
  readonly businessId?: string;
  readonly filters: readonly Filter[];
  readonly limit: number;
  readonly offset: number;
  /** Column with the time of a row, by which the list is ordered. Default: created_at. */
  readonly time?: string;
}

export interface ListPage<Row> {
  readonly rows: Row[];
  /**
   * Number of matching rows. It is not exact if `totalIsCapped` is true, because more than
   * `countedMax` rows match.
   */
  readonly total: number;
  readonly totalIsCapped: boolean;
}

/**
 * The gateway's default limit, which most requests use. A statement for this limit contains the
 * limit as a literal, because PostgreSQL would plan a statement with a limit parameter again for
 * each execution.
 */
const usualLimit = 50;

/**
 * Maximum number of rows that are counted. Counting all rows would read each index entry of a long
 * list.
 */
export const countedMax = 1_000;

/**
 * Returns a page of a list, newest first (created_at, then id), and the number of rows in the list.
 * Long lists need an index on (business_id, created_at desc, id desc). A filter needs an index on
 * (business_id, filtered column, created_at desc, id desc). The list then reads few rows, whether
 * many or few rows match the filter.
 */
export async function listPage<Row>(em: SqlEntityManager, list: ListQuery): Promise<ListPage<Row>> {
  const { table, lookUpIn = table, columns, businessId, limit, offset, time = "created_at" } = list;
  const activeFilters = list.filters
    .map((filter) => ({ filter, value: valueFor(filter) }))
    .filter(({ value }) => value !== undefined);
  const values: unknown[] = [];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const ownerCondition = businessId === undefined ? "true" : `business_id = ${parameter(businessId)}`;
  const where = [ownerCondition, ...activeFilters.map(({ filter }) => conditionOf(filter, parameter))].join(" and ");
  const newestFirst = `order by ${time} desc, id desc`;

  if (activeFilters.some(({ filter }) => "contains" in filter)) {
    // The count and the page share a single scan of the matching rows. The best plan depends on
    // how common the text is. PostgreSQL therefore plans the statement for each execution.
    const bound = parameter(Math.max(countedMax + 1, offset + limit));
    const [found] = await plannedQuery<{ total: number; ids: string[] }>(
      em,
      `with found as materialized (
         select id, ${time} from ${lookUpIn} where ${where} ${newestFirst} limit ${bound}
       ) select (select count(*) from found)::int as total,
         array(select id from found ${newestFirst} limit ${parameter(limit)} offset ${parameter(offset)}) as ids`,
      values,
    );
    const { total = 0, ids = [] } = found ?? {};
    const ownerValues = businessId === undefined ? [] : [businessId];
    const text = `select ${columns} from ${table} where ${ownerCondition} and id = any ($${ownerValues.length + 1}) ${newestFirst}`;
    const rows = ids.length === 0 ? [] : await preparedQuery<Row>(em, text, [...ownerValues, ids]);
    return pageOf(rows, total, list);
  }

  const count = `select count(*)::int as total from (select from ${lookUpIn} where ${where} limit ${countedMax + 1}) matching`;
  const isDefaultPage = limit === usualLimit && offset === 0;
  const limitClause = isDefaultPage ? `limit ${usualLimit}` : `limit $${values.length + 1} offset $${values.length + 2}`;
  const rows = await preparedQuery<Row & { matchingRows: number }>(
    em,
    // The query "page" skips the rows before the page in the index, so that PostgreSQL reads only
    // the rows of the page completely. Subqueries without "with" could see the columns of the
    // table: a filter by a column that `lookUpIn` lacks would return wrong rows, not an error.
    `with page as (select array(select id from ${lookUpIn} where ${where} ${newestFirst} ${limitClause}) as ids), counted as (${count})
     select ${columns}, (select total from counted) as "matchingRows" from ${table}
     where ${ownerCondition} and id = any ((select ids from page)::uuid[]) ${newestFirst}`,
    isDefaultPage ? values : [...values, limit, offset],
  );
  const [first] = rows;
  if (first) return pageOf(rows.map(({ matchingRows: _, ...row }) => row) as Row[], first.matchingRows, list);
  // No row contains the count. The list is empty, or the page is after its end or has the limit 0.
  const isEmpty = offset === 0 && limit > 0;
  const [counted] = isEmpty ? [] : await preparedQuery<{ total: number }>(em, count, values);
  return pageOf<Row>([], counted?.total ?? 0, list);
}

/**
 * Creates the page. A gateway of the previous version ignores `totalIsCapped`, and shows a next
 * page only if the total exceeds the end of this page. A capped total is therefore above that end
 * if a next page may exist.
 */
function pageOf<Row>(rows: Row[], counted: number, { limit, offset }: ListQuery): ListPage<Row> {
  const totalIsCapped = counted > countedMax;
  const beyondPage = rows.length === limit ? offset + limit + 1 : 0;
  return { rows, total: totalIsCapped ? Math.max(countedMax, beyondPage) : counted, totalIsCapped };
}

function valueFor(filter: Filter): unknown {
  if ("always" in filter) return true;
  if ("is" in filter) return filter.is;
  return "sql" in filter ? filter.value : filter.contains;
}

function conditionOf(filter: Filter, parameter: (value: unknown) => string): string {
  if ("always" in filter) return filter.always;
  // Without a parameter, PostgreSQL can use a partial index on the rarer value.
  if ("is" in filter && typeof filter.is === "boolean") return filter.is ? filter.column : `not ${filter.column}`;
  if ("is" in filter) return `${filter.column} = ${parameter(filter.is)}`;
  if ("sql" in filter) {
    return filter.sql.replaceAll("?", typeof filter.value === "boolean" ? String(filter.value) : parameter(filter.value));
  }
  const { column, contains = "", spaceless } = filter;
  const likeCondition = (name: string, text: string) => `${name} like lower(${parameter(`%${escapeLike(text)}%`)})`;
  const compact = contains.replaceAll(/\s/g, "");
  if (spaceless === undefined || compact === contains || compact === "") return likeCondition(column, contains);
  return `(${likeCondition(column, contains)} or (${likeCondition(column, compact)} and ${likeCondition(spaceless, compact)}))`;
}

/** Escapes the special characters of LIKE. */
const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, String.raw`\$&`);
