import type { DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { type Filter, type ListPage, listPage } from "./list-page.ts";
import { type FieldOf, valueReader } from "./request-value.ts";
import { allBusinesses, businessIdOf, columnOf, type Owner, type Stored, type View } from "./view.ts";

/** What a request's field asks of rows: SQL in which `?` is its value, or a search. */
type Condition = string | { readonly contains: string; readonly spaceless?: string };

type OwnField<E, R extends DescMessage> = Extract<FieldOf<R>, keyof Stored<E>>;
type OtherField<E, R extends DescMessage> = Exclude<FieldOf<R>, OwnField<E, R> | "limit" | "offset">;

export interface List<R extends DescMessage, Row> {
  /** A page, newest first, and how many rows it has in all. */
  page(em: SqlEntityManager, owner: Owner, request: Omit<MessageShape<R>, "$typeName">): Promise<ListPage<Row>>;
}

interface ListOptions {
  /**
   * The view in which rows are looked up, made by `show_to_tenants`. Needed where a condition uses
   * a comparison that is not leakproof, as searches do. Default: the table.
   */
  readonly lookUpIn?: string;
  /** The column with a row's time. Default: created_at. */
  readonly time?: string;
}

/**
 * The list that an RPC answers; its request is the filter. A field that is called as a property
 * restricts it to rows with that value. What the others ask, `conditions` says, one by one: a field
 * without a condition does not compile. A field that the request omits does not restrict the list.
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
    async page(em, owner, given) {
      const { limit, offset } = given as unknown as { limit: number; offset: number };
      const filters = readers.map(({ name, toFilter }) => toFilter((given as MessageShape<R>)[name]));
      const { rows, ...totals } = await listPage<Record<string, unknown>>(em, {
        ...(owner === allBusinesses ? { name: `${request.name}_any` } : { name: request.name, businessId: businessIdOf(owner) }),
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

function filterOf(field: DescField, condition: Condition | undefined): (given: unknown) => Filter {
  const read = valueReader(field);
  if (condition === undefined) {
    const column = columnOf(field.localName);
    return (given) => ({ column, is: read(given) });
  }
  if (typeof condition === "string") return (given) => ({ sql: condition, value: read(given) });
  const { contains: column, ...rest } = condition;
  return (given) => ({ column, contains: read(given) as string | undefined, ...rest });
}
