import type { DescField, DescMessage, MessageInitShape } from "@bufbuild/protobuf";

interface Source {
  readonly field: DescField;
  readonly read: (value: unknown) => unknown;
}

const known = new WeakMap<DescMessage, Map<string, Source>>();

/**
 * The request that public fields come to. Each goes into the message's field of its name, a word as
 * its enum's value; a time goes into the field whose name ends in `_ms`. What has no value is named
 * in `cleared` where the message has that, and left out elsewhere. Throws a TypeError for a field
 * or a word that the message does not have.
 */
export function requestOf<I extends DescMessage>(
  message: I,
  fields: object,
  rpcNames: Readonly<Record<string, string>> = {},
): MessageInitShape<I> {
  const request: Record<string, unknown> = {};
  const cleared: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const { field, read } = sourceOf(message, rpcNames[name] ?? name);
    if (value === null || value === "") cleared.push(name);
    else request[field.localName] = read(value);
  }
  if (message.field["cleared"]) request["cleared"] = cleared;
  return request as MessageInitShape<I>;
}

/** Where in the message a public field goes. Throws a TypeError when it goes nowhere. */
export function sourceOf(message: DescMessage, name: string): Source {
  let sources = known.get(message);
  if (!sources) {
    sources = new Map(message.fields.map((field) => [field.name.replace(/_ms$/, ""), { field, read: readerOf(field) }]));
    known.set(message, sources);
  }
  const source = sources.get(name);
  if (!source) throw new TypeError(`${message.typeName} has no field for ${name}`);
  return source;
}

function readerOf(field: DescField): Source["read"] {
  if (field.enum) {
    const numbers = new Map(field.enum.values.map(({ localName, number }) => [localName, number]));
    const numberOf = (word: unknown) => {
      const number = numbers.get(String(word).toUpperCase());
      if (number === undefined) throw new TypeError(`${field.name} has no value ${word}`);
      return number;
    };
    return field.fieldKind === "list" ? (words) => (words as unknown[]).map(numberOf) : numberOf;
  }
  if (field.name.endsWith("_ms")) return (time) => BigInt(Date.parse(String(time).toUpperCase()));
  return (value) => value;
}
