import type { DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { type Filter, type ListPage, listPage } from "./list-page.ts";
import { type FieldOf, valueReader } from "./request-value.ts";
import { allBusinesses, businessIdOf, columnOf, type Owner, type Stored, type View } from "./view.ts";

/** SQL condition in which `?` is the value of a request field, or a search for that value. */
type Condition = string | { readonly contains: string; readonly spaceless?: string };

type OwnField<E, R extends DescMessage> = Extract<FieldOf<R>, keyof Stored<E>>;
type OtherField<E, R extends DescMessage> = Exclude<FieldOf<R>, OwnField<E, R> | "limit" | "offset">;

export interface List<R extends DescMessage, Row> {
  /** Returns a page, newest first, and the number of rows in the list. */
  page(em: SqlEntityManager, owner: Owner, request: Omit<MessageShape<R>, "$typeName">): Promise<ListPage<Row>>;
}

interface ListOptions {
  /**
   * View on which the conditions are evaluated, created by `show_to_tenants`. It is needed when a
   * condition, such as a search, uses a comparison that is not LEAKPROOF in PostgreSQL. Default:
   * the table.
   */
  readonly lookUpIn?: string;
  /** Column with the time of a row, by which the list is ordered. Default: created_at. */
  readonly time?: string;
}

/**
 * Defines the list that an RPC returns. The fields of the request message, except `limit` and
 * `offset`, filter the rows. A field with an entry in `conditions` uses that condition. A field
 * without an entry must have the name of an entity property, which the compiler checks, and selects
 * the rows with the field's value in that property. A field that the request omits does not
 * restrict the list.
 */
export function defineList<E, M extends DescMessage, Row, R extends DescMessage>(
  view: View<E, M, Row>,
  request: R,
  conditions: { readonly [F in OtherField<E, R>]: Condition } & { readonly [F in OwnField<E, R>]?: Condition },
  options: ListOptions = {},
): List<R, Row> {
  const fields = request.fields.filter(({ localName }) => localName !== "limit" && localName !== "offset");
  const readers = fields.map((field) => ({
    name: field.localName as keyof MessageShape<R>,
    toFilter: filterOf(field, (conditions as Record<string, Condition>)[field.localName]),
  }));
  return {
    async page(em, owner, message) {
      const { limit, offset } = message as unknown as { limit: number; offset: number };
      const filters = readers.map(({ name, toFilter }) => toFilter((message as MessageShape<R>)[name]));
      const { rows, ...totals } = await listPage<Record<string, unknown>>(em, {
        ...(owner === allBusinesses ? {} : { businessId: businessIdOf(owner) }),
        table: view.table,
        ...options,
        columns: view.columns,
        filters: view.where === "true" ? filters : [...filters, { always: view.where }],
        limit,
        offset,
      });
      return { rows: rows.map(view.parse), ...totals };
    },
  };
}

function filterOf(field: DescField, condition: Condition | undefined): (value: unknown) => Filter {
  const read = valueReader(field);
  if (condition === undefined) {
    const column = columnOf(field.localName);
    return (value) => ({ column, is: read(value) });
  }
  if (typeof condition === "string") return (value) => ({ sql: condition, value: read(value) });
  const { contains: column, ...rest } = condition;
  return (value) => ({ column, contains: read(value) as string | undefined, ...rest });
}
