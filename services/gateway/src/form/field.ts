import { type TLiteral, type TNull, type TOptional, type TProperties, type TSchema, type TUnion, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Check } from "typebox/value";

/** Validation of one value beyond its schema, and the message for an invalid value. */
interface FieldRule {
  /** Text after the field's name in an error: 'must be a decimal string such as "5000.00"'. */
  readonly message: string;
  /** Converts a string into the stored form, before validation. */
  readonly normalise?: (text: string) => string;
  /**
   * Validates rules that a schema cannot express. It is called only with values of the schema's
   * type. A returned string replaces `message` with a more precise message.
   */
  readonly accepts?: (value: never) => boolean | string;
}

const ruleKey = Symbol("field rule");

/**
 * Attaches a rule to a schema. The key of the rule is a symbol, so that the published schema does
 * not contain the rule.
 */
export function field<T extends TSchema>(schema: T, rule: FieldRule): T {
  return Object.assign(schema, { [ruleKey]: rule });
}

/** Returns a schema that also accepts null, which clears the field. */
export function clearable<T extends TSchema>(schema: T): T | TUnion<[T, TNull]> {
  if (Check(schema, null)) return schema;
  return unionWithEmpty(schema, Type.Union([schema, Type.Null()]), (value) => value === null);
}

/** Returns a schema that also accepts null and "", which both clear the field. */
export function clearableText<T extends TSchema>(schema: T): TUnion<[T, TLiteral<"">, TNull]> {
  const union = Type.Union([schema, Type.Literal(""), Type.Null()]);
  return unionWithEmpty(schema, union, (value) => value === null || value === "");
}

/** Returns optional fields for a creation. Null is rejected, because there is no value to clear. */
export const optionalFields = <P extends TProperties>(fields: P) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [K in keyof P]: TOptional<P[K]>;
  };

/**
 * Copies the rule of a schema to a union that also accepts empty values. The original rule rejects
 * empty values.
 */
function unionWithEmpty<U extends TSchema>(schema: TSchema, union: U, isEmpty: (value: unknown) => boolean): U {
  const rule = (schema as { [ruleKey]?: FieldRule })[ruleKey];
  if (!rule) return union;
  const { accepts = () => true } = rule;
  return field(union, { ...rule, accepts: (value: never) => isEmpty(value) || accepts(value) });
}

/** The validated value in its stored form, or the message for an invalid value. */
export type FieldResult = { value: unknown } | { message: string };

/** Compiles the validation of a field: normalise, then schema, then rule. */
export function compileField(schema: TSchema): (value: unknown) => FieldResult {
  const rule = (schema as { [ruleKey]?: FieldRule })[ruleKey];
  const validator = Compile(schema);
  const message = rule?.message ?? "does not have the documented form";
  return (received) => {
    const value = rule?.normalise && typeof received === "string" ? rule.normalise(received) : received;
    const result = validator.Check(value) && (rule?.accepts?.(value as never) ?? true);
    return result === true ? { value } : { message: result || message };
  };
}
