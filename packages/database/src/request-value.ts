import { dateOf } from "@amana/runtime";
import { type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";

export type FieldOf<M extends DescMessage> = Exclude<keyof MessageShape<M>, "$typeName" | "$unknown"> & string;

/** Reads a request's field as columns have it; undefined for what the request leaves out. */
export function valueReader(field: DescField): (given: unknown) => unknown {
  if (field.fieldKind === "enum") {
    const { value } = field.enum;
    // Nothing is called "": a value that only a newer version knows finds nothing, instead of
    // everything.
    return (number) => (number === 0 || number === undefined ? undefined : (value[number as number]?.localName ?? ""));
  }
  if (field.fieldKind === "list") return (items) => ((items as unknown[] | undefined)?.length ? items : undefined);
  if (field.scalar === ScalarType.INT64 && field.localName.endsWith("Ms")) return (ms) => dateOf(ms as bigint | undefined);
  return (value) => value;
}
