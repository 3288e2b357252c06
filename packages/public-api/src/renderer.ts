import type { DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Static, TObject, TProperties, TSchema } from "typebox";
import { formatMoney } from "./money.ts";

/** Where a value is, if not in the field of its name: in another one, or made by a function. */
type Sources<M, P> = { readonly [K in keyof P]?: string | ((message: M) => unknown) };

/**
 * A function that shows a message as the public JSON of a schema. A public field shows the
 * message's field of its name. A time is in the one whose name ends in `_ms`, an amount of the
 * message's currency in the one ending in `_minor`, and an enum's value is shown as the schema's
 * word for it. What has no value is undefined. Throws at once when the message has no field for one
 * of the schema's.
 */
export function renderer<D extends DescMessage, P extends TProperties>(
  message: D,
  schema: TObject<P>,
  sources: Sources<MessageShape<D>, P> = {},
): (message: MessageShape<D>) => Static<TObject<P>> {
  const fields = new Map(message.fields.map((field) => [field.name.replace(/_(ms|minor)$/, ""), field]));
  const shown = Object.entries<TSchema>(schema.properties).map(([name, property]) => {
    const source = sources[name] ?? name;
    if (typeof source === "function") return { name, make: source as (message: object) => unknown };
    const field = fields.get(source);
    if (!field) throw new TypeError(`${message.typeName} has no field for ${name}`);
    return { name, localName: field.localName, show: showing(field, (property as { enum?: readonly string[] }).enum) };
  });
  return (one) => {
    const json: Record<string, unknown> = {};
    for (const { name, localName, show, make } of shown) {
      const value = make ? make(one) : (one as Record<string, unknown>)[localName];
      if (value !== undefined) json[name] = show ? show(value as never, one) : value;
    }
    return json as Static<TObject<P>>;
  };
}

/** Undefined: shown as it is. `words`: what the schema calls an enum's values, in its own case. */
function showing(field: DescField, words: readonly string[] | undefined) {
  if (field.name.endsWith("_ms") && field.fieldKind === "scalar") return isoTimestamp;
  if (field.name.endsWith("_minor")) {
    return (minor: bigint, message: object) => formatMoney(minor, (message as { currency: string }).currency);
  }
  if (field.fieldKind !== "enum") return undefined;
  const names = new Map(
    field.enum.values.map(({ number, localName }) => {
      const word = words?.find((known) => known.toUpperCase() === localName) ?? localName;
      return [number, number === 0 ? undefined : word];
    }),
  );
  return (number: number) => names.get(number);
}

/**
 * JSON text with one more member, whose text is set in as it is: parsing and writing it again would
 * change numbers and escapes that a business chose itself.
 */
export const withMember = (json: object, name: string, text: string): string =>
  `${JSON.stringify(json).slice(0, -1)},"${name}":${text}}`;

/** Unix milliseconds as the public API writes timestamps: UTC, "Z", milliseconds. */
export const isoTimestamp = (ms: bigint): string => new Date(Number(ms)).toISOString();
