import { isUuid } from "@amana/runtime";
import { type DescField, type DescMessage, fromBinary, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/**
 * A payload as an operator may see it: ids, enums, numbers and which fields are there. Every other
 * text is replaced by its length, since it may be a person's or a business's: names, metadata,
 * references. Undefined for what is no such message.
 */
export function shownPayload(schema: DescMessage | undefined, payload: Uint8Array): string | undefined {
  if (!schema || payload.length === 0) return undefined;
  try {
    return JSON.stringify(shownMessage(reflect(schema, fromBinary(schema, payload))));
  } catch {
    return undefined;
  }
}

function shownMessage(message: ReflectMessage): Record<string, unknown> {
  const set = message.fields.filter((field) => message.isSet(field));
  return Object.fromEntries(set.map((field) => [field.name, shownField(message, field)]));
}

function shownField(message: ReflectMessage, field: DescField): unknown {
  switch (field.fieldKind) {
    case "message":
      return shownMessage(message.get(field));
    case "enum":
      return nameOf(field.enum, message.get(field));
    case "scalar":
      return shownScalar(field.scalar, message.get(field));
    case "list":
      return Array.from(message.get(field), (item) => {
        if (field.listKind === "message") return shownMessage(item as ReflectMessage);
        return field.listKind === "enum" ? nameOf(field.enum, item as number) : shownScalar(field.scalar, item);
      });
    case "map":
      return `[${message.get(field).size} entries]`;
  }
}

const nameOf = (values: { value: Readonly<Record<number, { name: string } | undefined>> }, value: number) =>
  values.value[value]?.name ?? value;

function shownScalar(type: ScalarType, value: unknown): unknown {
  if (type === ScalarType.STRING) return isUuid(value as string) ? value : `[${[...(value as string)].length} characters]`;
  if (type === ScalarType.BYTES) return `[${(value as Uint8Array).length} bytes]`;
  return typeof value === "bigint" ? String(value) : value;
}
