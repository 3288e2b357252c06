import { create, type DescField, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import {
  BigIntType,
  DateTimeType,
  type EntityClass,
  EntitySchema,
  type SqlEntityManager,
  UnderscoreNamingStrategy,
} from "@mikro-orm/postgresql";
import type { FieldOf } from "./request-value.ts";
import { createRowReader } from "./row-reader.ts";

/**
 * Owner of rows: a business id, or `allBusinesses` for operators and for tables of the platform.
 */
export type Owner = string | typeof allBusinesses;
export const allBusinesses = Symbol("all businesses");

/**
 * Returns the business id. Throws when it is missing, so that a fault in the code cannot return the
 * rows of all businesses.
 */
export function businessIdOf(owner: string): string {
  if (!owner) throw new TypeError("the owner of the rows is missing: pass a business id or allBusinesses");
  return owner;
}

/**
 * Returns the metadata of an entity. Reads MikroORM's registry of schemas, because the public
 * `getMetadata` needs an ORM, and modules define their views before an ORM exists.
 */
export function metaOf(entity: EntityClass<object>): EntitySchema["meta"] {
  const meta = EntitySchema.REGISTRY.get(entity)?.meta;
  if (!meta) throw new TypeError(`${entity.name} has no entity schema: call setClass before this use`);
  return meta;
}

/** The properties of an entity, without its methods. */
export type Stored<E> = { [P in keyof E as E[P] extends (...parameters: never[]) => unknown ? never : P]: E[P] };

/**
 * Property of a field: `createdAt` for the field `createdAtMs`, and the same name for other fields.
 */
type PropertyOf<F> = F extends `${infer P}Ms` ? P : F;
type Value<E, F> = PropertyOf<F> extends keyof Stored<E> ? NonNullable<Stored<E>[PropertyOf<F>]> : never;
/** True if a field of the message can have the entity's value. An enum is stored as its name. */
type IsWritable<V, S> = [V] extends [never]
  ? false
  : V extends Date
    ? true
    : V extends string
      ? S extends string | number
        ? true
        : false
      : V extends S
        ? true
        : false;
type ShownField<E, M extends DescMessage> = {
  [F in FieldOf<M>]: IsWritable<Value<E, F>, NonNullable<MessageShape<M>[F & keyof MessageShape<M>]>> extends true ? F : never;
}[FieldOf<M>];

type ShownProperty<E, M extends DescMessage> = PropertyOf<ShownField<E, M>> & keyof Stored<E>;
type OtherField<E, M extends DescMessage> = Exclude<FieldOf<M>, ShownField<E, M>>;
type Others<E, M extends DescMessage> = {
  [F in OtherField<E, M>]: F extends keyof MessageInitShape<M> ? MessageInitShape<M>[F] : never;
};

/**
 * Defines which fields of a message are read from columns of an entity, and how a row is converted
 * to the message.
 */
export interface View<E, M extends DescMessage, Row> {
  readonly table: string;
  /** Columns to select, as SQL. */
  readonly columns: string;
  readonly where: string;
  readonly properties: readonly (keyof Row & keyof Stored<E> & string)[];
  /** Converts a selected row, where bigint and times are text, to the types of the entity. */
  parse(row: Record<string, unknown>): Row;
  /**
   * Reads a committed row, outside of any transaction. Returns undefined when the owner has no row
   * with the id.
   */
  read(em: SqlEntityManager, owner: Owner, id: string): Promise<Row | undefined>;
  /**
   * Converts a row or an entity. `others` contains the fields of the message that the view cannot
   * read from a property. The view reads a field `<name>Ms` from the date property `<name>`, and
   * each other field from the property of the same name, if the types fit.
   */
  toMessage(
    row: Pick<Stored<E>, ShownProperty<E, M>>,
    ...others: [OtherField<E, M>] extends [never] ? [] : [others: Others<E, M>]
  ): MessageShape<M>;
}

/** The selected columns of a view's row. */
export type RowOf<V extends { parse(row: Record<string, unknown>): unknown }> = ReturnType<V["parse"]>;

interface ViewOptions<P extends string, X extends string> {
  /** Additional properties to select, for fields that are derived from them. */
  readonly columns?: readonly P[];
  /** SQL expressions to select, by name. */
  readonly expressions?: Readonly<Record<X, string>>;
  /** SQL condition of the rows that the view reads. */
  readonly where?: string;
}

/** Defines how rows of an entity are read and converted to a message. */
export function defineView<
  E extends object,
  M extends DescMessage,
  const P extends keyof Stored<E> & string = never,
  const X extends string = never,
>(
  entity: EntityClass<E>,
  message: M,
  { columns = [], expressions, where = "true" }: ViewOptions<P, X> = {},
): View<E, M, Pick<Stored<E>, ShownProperty<E, M> | P> & Readonly<Record<X, string | null>>> {
  const meta = metaOf(entity);
  const types = new Map(Object.entries(meta.properties).map(([name, { type }]) => [name, type as unknown]));
  const shownFields = message.fields
    .map((field) => ({ field: field.localName, property: field.localName.replace(/Ms$/, ""), write: writerOf(field) }))
    .filter(({ property }) => types.has(property));
  const properties = [...new Set([...shownFields.map(({ property }) => property), ...columns])];
  const parsedProperties = properties.flatMap((property) => {
    const parse = parserOf(types.get(property));
    return parse ? [{ property, parse }] : [];
  });
  const table = meta.tableName;
  const selectedColumns = [
    ...properties.map((property) => [property, columnOf(property)]),
    ...Object.entries<string>(expressions ?? {}),
  ]
    .map(([name, sql]) => `${sql} as "${name}"`)
    .join(", ");

  const select = `select ${selectedColumns} from ${table} where ${where} and id = any($1::uuid[])`;
  const readAny = createRowReader(select);
  // "is true" prevents the use of an index that begins with business_id. Without statistics,
  // PostgreSQL would prefer such an index to the primary key, and would read all rows of the
  // business.
  const readOwn = createRowReader(`${select} and (business_id = $2) is true`);

  const parse = (row: Record<string, unknown>) => {
    for (const { property, parse } of parsedProperties)
      if (row[property] !== null) row[property] = parse(row[property] as string);
    return row as never;
  };
  return {
    table,
    columns: selectedColumns,
    where,
    properties: properties as never,
    parse,
    async read(em, owner, id) {
      const row = owner === allBusinesses ? await readAny(em, id) : await readOwn(em, id, businessIdOf(owner));
      return row && parse(row);
    },
    toMessage(row, ...[others]) {
      const init: Record<string, unknown> = {};
      for (const { field, property, write } of shownFields) {
        const value = (row as Record<string, unknown>)[property];
        if (value !== null && value !== undefined) init[field] = write ? write(value as never) : value;
      }
      return create(message, Object.assign(init, others) as MessageInitShape<M>);
    },
  };
}

const naming = new UnderscoreNamingStrategy();
export const columnOf = (property: string): string => naming.propertyToColumnName(property);

function writerOf(field: DescField): ((value: never) => unknown) | undefined {
  if (field.localName.endsWith("Ms")) return (time: Date) => BigInt(time.getTime());
  if (field.fieldKind !== "enum") return undefined;
  const numbers = new Map(field.enum.values.map(({ localName, number }) => [localName, number]));
  return (name: string) => numbers.get(name);
}

function parserOf(type: unknown): ((text: string) => unknown) | undefined {
  if (type === DateTimeType || type instanceof DateTimeType) return (text) => new Date(text);
  if (type === BigIntType || type instanceof BigIntType) return (text) => BigInt(text);
  return undefined;
}
