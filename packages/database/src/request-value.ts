import { dateOf } from "@amana/runtime";
import { type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";

export type FieldOf<M extends DescMessage> = Exclude<keyof MessageShape<M>, "$typeName" | "$unknown"> & string;

/**
 * Returns a function that converts the value of a request field to the value of a column. It
 * returns undefined for a field that the request omits.
 */
export function valueReader(field: DescField): (value: unknown) => unknown {
  if (field.fieldKind === "enum") {
    const { value } = field.enum;
    // A value that this version does not have becomes "", which no row contains. The filter then
    // selects no rows, instead of all rows.
    return (number) => (number === 0 || number === undefined ? undefined : (value[number as number]?.localName ?? ""));
  }
  if (field.fieldKind === "list") return (items) => ((items as unknown[] | undefined)?.length ? items : undefined);
  if (field.scalar === ScalarType.INT64 && field.localName.endsWith("Ms")) return (ms) => dateOf(ms as bigint | undefined);
  return (value) => value;
}
