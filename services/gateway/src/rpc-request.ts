import type { DescField, DescMessage, MessageInitShape } from "@bufbuild/protobuf";

/** The RPC field for a public field, and the conversion of its values. */
interface FieldMapping {
  readonly field: DescField;
  readonly convert: (value: unknown) => unknown;
}

const mappingsByMessage = new WeakMap<DescMessage, Map<string, FieldMapping>>();

/**
 * Returns an RPC request with the values of public fields. A field is written to the message field
 * of the same name, or to `<name>_ms` if it is a time. Enum names are converted to numbers. A field
 * with null or "" is omitted; if the message has the field `cleared`, the name of the omitted field
 * is added there. Throws a TypeError for a field or an enum name that the message does not have.
 */
export function toRpcRequest<I extends DescMessage>(
  message: I,
  fields: object,
  rpcNames: Readonly<Record<string, string>> = {},
): MessageInitShape<I> {
  const request: Record<string, unknown> = {};
  const cleared: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const { field, convert } = fieldMappingOf(message, rpcNames[name] ?? name);
    if (value === null || value === "") cleared.push(name);
    else request[field.localName] = convert(value);
  }
  if (message.field["cleared"]) request["cleared"] = cleared;
  return request as MessageInitShape<I>;
}

/** Returns the message field for a public field. Throws a TypeError when there is none. */
export function fieldMappingOf(message: DescMessage, name: string): FieldMapping {
  let mappings = mappingsByMessage.get(message);
  if (!mappings) {
    mappings = new Map(message.fields.map((field) => [field.name.replace(/_ms$/, ""), { field, convert: conversionOf(field) }]));
    mappingsByMessage.set(message, mappings);
  }
  const mapping = mappings.get(name);
  if (!mapping) throw new TypeError(`${message.typeName} has no field for ${name}`);
  return mapping;
}

function conversionOf(field: DescField): FieldMapping["convert"] {
  if (field.enum) {
    const numbers = new Map(field.enum.values.map(({ localName, number }) => [localName, number]));
    const numberOf = (name: unknown) => {
      const number = numbers.get(String(name).toUpperCase());
      if (number === undefined) throw new TypeError(`${name} is not a value of the enum field ${field.name}`);
      return number;
    };
    return field.fieldKind === "list" ? (names) => (names as unknown[]).map(numberOf) : numberOf;
  }
  if (field.name.endsWith("_ms")) return (time) => BigInt(Date.parse(String(time).toUpperCase()));
  return (value) => value;
}
