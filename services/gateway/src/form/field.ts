import { type TLiteral, type TNull, type TOptional, type TProperties, type TSchema, type TUnion, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Check } from "typebox/value";

/** How one value is judged beyond its schema, and what its sender is told. */
interface FieldRule {
  /** Completes "amount …": 'must be a decimal string such as "5000.00"'. */
  readonly message: string;
  /** Puts a text into the form it is kept in, before anything is checked. */
  readonly normalise?: (text: string) => string;
  /**
   * What the schema cannot say. Called only with values of the schema's type. A text refuses, and
   * says more precisely what is wrong.
   */
  readonly accepts?: (value: never) => boolean | string;
}

const ruleKey = Symbol("field rule");

/** A schema with its rule, under a symbol so that it never shows in the published schema. */
export function field<T extends TSchema>(schema: T, rule: FieldRule): T {
  return Object.assign(schema, { [ruleKey]: rule });
}

/** A field that null clears. */
export function clearable<T extends TSchema>(schema: T): T | TUnion<[T, TNull]> {
  if (Check(schema, null)) return schema;
  return orNothing(schema, Type.Union([schema, Type.Null()]), (value) => value === null);
}

/** A text of which null and "" say that there is none; white space too, where that is trimmed. */
export function erasable<T extends TSchema>(schema: T): TUnion<[T, TLiteral<"">, TNull]> {
  const union = Type.Union([schema, Type.Literal(""), Type.Null()]);
  return orNothing(schema, union, (value) => value === null || value === "");
}

/** Fields that a creation may leave out. There is nothing to clear yet, so null is refused. */
export const omittable = <P extends TProperties>(fields: P) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [K in keyof P]: TOptional<P[K]>;
  };

/** Carries a rule over to a union with values that clear the field, which it knows nothing of. */
function orNothing<U extends TSchema>(schema: TSchema, union: U, isNothing: (value: unknown) => boolean): U {
  const rule = (schema as { [ruleKey]?: FieldRule })[ruleKey];
  if (!rule) return union;
  const { accepts = () => true } = rule;
  return field(union, { ...rule, accepts: (value: never) => isNothing(value) || accepts(value) });
}

/** The checked value, or what is wrong with it. */
export type Checked = { value: unknown } | { message: string };

/** Compiles one field: normalise, then schema, then rule. */
export function compileField(schema: TSchema): (value: unknown) => Checked {
  const rule = (schema as { [ruleKey]?: FieldRule })[ruleKey];
  const validator = Compile(schema);
  const message = rule?.message ?? "is not of the documented form";
  return (given) => {
    const value = rule?.normalise && typeof given === "string" ? rule.normalise(given) : given;
    const verdict = validator.Check(value) && (rule?.accepts?.(value as never) ?? true);
    return verdict === true ? { value } : { message: verdict || message };
  };
}
