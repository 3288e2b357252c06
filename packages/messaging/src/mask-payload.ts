import { isUuid } from "@amana/runtime";
import { type DescField, type DescMessage, fromBinary, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/**
 * Returns a payload as JSON for operators: field names, ids, enums and numbers. Replaces all other
 * strings by their length, because names, metadata and references are data of persons or
 * businesses. Returns undefined if the payload does not match the schema.
 */
export function maskPayload(schema: DescMessage | undefined, payload: Uint8Array): string | undefined {
  if (!schema || payload.length === 0) return undefined;
  try {
    return JSON.stringify(maskMessage(reflect(schema, fromBinary(schema, payload))));
  } catch {
    return undefined;
  }
}

function maskMessage(message: ReflectMessage): Record<string, unknown> {
  const setFields = message.fields.filter((field) => message.isSet(field));
  return Object.fromEntries(setFields.map((field) => [field.name, maskField(message, field)]));
}

function maskField(message: ReflectMessage, field: DescField): unknown {
  switch (field.fieldKind) {
    case "message":
      return maskMessage(message.get(field));
    case "enum":
      return nameOf(field.enum, message.get(field));
    case "scalar":
      return maskScalar(field.scalar, message.get(field));
    case "list":
      return Array.from(message.get(field), (item) => {
        if (field.listKind === "message") return maskMessage(item as ReflectMessage);
        return field.listKind === "enum" ? nameOf(field.enum, item as number) : maskScalar(field.scalar, item);
      });
    case "map":
      return `[${message.get(field).size} entries]`;
  }
}

const nameOf = (values: { value: Readonly<Record<number, { name: string } | undefined>> }, value: number) =>
  values.value[value]?.name ?? value;

function maskScalar(type: ScalarType, value: unknown): unknown {
  if (type === ScalarType.STRING) return isUuid(value as string) ? value : `[${[...(value as string)].length} characters]`;
  if (type === ScalarType.BYTES) return `[${(value as Uint8Array).length} bytes]`;
  return typeof value === "bigint" ? String(value) : value;
}
