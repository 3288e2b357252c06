import type { DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Static, TObject, TProperties, TSchema } from "typebox";
import { formatMoney } from "./money.ts";

/**
 * Sources of public fields whose value is not in the message field of the same name: the name of
 * another field, or a function of the message.
 */
type Sources<M, P> = { readonly [K in keyof P]?: string | ((message: M) => unknown) };

/**
 * Returns a function that renders a message as the public JSON of a schema. Each public field has
 * the value of the message field with the same name. A timestamp is read from the field with the
 * suffix `_ms`. An amount is read from the field with the suffix `_minor`, in the message's
 * currency. Enum values are rendered in upper or lower case, as in the schema. Fields without a
 * value are undefined. Throws a TypeError if a public field has neither a source nor a message
 * field.
 */
export function createRenderer<D extends DescMessage, P extends TProperties>(
  message: D,
  schema: TObject<P>,
  sources: Sources<MessageShape<D>, P> = {},
): (message: MessageShape<D>) => Static<TObject<P>> {
  const fields = new Map(message.fields.map((field) => [field.name.replace(/_(ms|minor)$/, ""), field]));
  const properties = Object.entries<TSchema>(schema.properties).map(([name, property]) => {
    const source = sources[name] ?? name;
    if (typeof source === "function") return { name, make: source as (message: object) => unknown };
    const field = fields.get(source);
    if (!field) throw new TypeError(`${message.typeName} has no field for ${name}`);
    return { name, localName: field.localName, format: formatOf(field, (property as { enum?: readonly string[] }).enum) };
  });
  return (value) => {
    const json: Record<string, unknown> = {};
    for (const { name, localName, format, make } of properties) {
      const fieldValue = make ? make(value) : (value as Record<string, unknown>)[localName];
      if (fieldValue !== undefined) json[name] = format ? format(fieldValue as never, value) : fieldValue;
    }
    return json as Static<TObject<P>>;
  };
}

/** Returns the conversion of a field's values, or undefined when the values need no conversion. */
function formatOf(field: DescField, enumValues: readonly string[] | undefined) {
  if (field.name.endsWith("_ms") && field.fieldKind === "scalar") return isoTimestamp;
  if (field.name.endsWith("_minor")) {
    return (minor: bigint, message: object) => formatMoney(minor, (message as { currency: string }).currency);
  }
  if (field.fieldKind !== "enum") return undefined;
  const names = new Map(
    field.enum.values.map(({ number, localName }) => {
      const publicName = enumValues?.find((value) => value.toUpperCase() === localName) ?? localName;
      return [number, number === 0 ? undefined : publicName];
    }),
  );
  return (number: number) => names.get(number);
}

/**
 * Returns JSON text with one more member. The JSON text of the member is inserted unchanged,
 * because parsing and serializing it would change numbers and escapes.
 */
export const withMember = (json: object, name: string, text: string): string =>
  `${JSON.stringify(json).slice(0, -1)},"${name}":${text}}`;

/** Converts Unix milliseconds to a timestamp in UTC with milliseconds and "Z". */
export const isoTimestamp = (ms: bigint): string => new Date(Number(ms)).toISOString();
