import { isDeepStrictEqual } from "node:util";
import { type TObject, type TProperties, Type } from "typebox";
import { pointerOf } from "../json/pointer.ts";
import { errorsMax, type FieldError, invalidJson, validationFailed } from "../problem.ts";
import { type Checked, compileField } from "./field.ts";

export interface BodyRule {
  /** An absent body is an empty one. */
  readonly optional: boolean;
  /** Fields of the resource that nobody can change; naming one gets an answer that says so. */
  readonly immutable: readonly string[];
  /** Fields that say the same under another name, and that name. Given both, they have to agree. */
  readonly otherNames: Readonly<Record<string, string>>;
}

const ruleKey = Symbol("body rule");
const plain: BodyRule = { optional: false, immutable: [], otherNames: {} };

/** A request's body: these fields and no others. */
export function bodyOf<P extends TProperties>(properties: P, rule: Partial<BodyRule> = {}): TObject<P> {
  return Object.assign(Type.Object(properties, { additionalProperties: false }), {
    [ruleKey]: { ...plain, ...rule },
  });
}

/**
 * Compiles a check of the fields. The check throws one Problem with an error for each wrong field,
 * up to `errorsMax`.
 */
export function compileBody(schema: TObject): (body: unknown) => Record<string, unknown> {
  const rule = (schema as TObject & { [ruleKey]?: BodyRule })[ruleKey] ?? plain;
  const required = new Set(schema.required ?? []);
  const fields = new Map<string, (value: unknown) => Checked>(
    Object.entries(schema.properties).map(([name, property]) => [name, compileField(property)]),
  );

  const immutable = new Set(rule.immutable);
  const unknownField = "is not known here";
  // Only the first error lists the known fields, because a response may have 100 such errors.
  const firstUnknownField = `${unknownField}; known are ${[...fields.keys()].join(", ")}`;

  return (given) => {
    // Fastify hands an absent body over as null; a body that is null was refused where it was read.
    if (given === null && !rule.optional) throw invalidJson("A JSON body is needed.");
    const body = (given ?? {}) as Record<string, unknown>;
    const errors: FieldError[] = [];
    const checked: Record<string, unknown> = {};
    let unknown = firstUnknownField;
    for (const [name, value] of Object.entries(body)) {
      if (errors.length > errorsMax) break;
      const check = fields.get(name);
      const pointer = pointerOf([name]);
      if (!check && immutable.has(name)) errors.push({ pointer, code: "immutable_field", message: "cannot be changed" });
      if (!check && !immutable.has(name)) {
        errors.push({ pointer, code: "unknown_field", message: unknown });
        unknown = unknownField;
      }
      if (!check) continue;
      const result = check(value);
      const place = rule.otherNames[name] ?? name;
      const advice = value === null && !required.has(name) ? "; leave it out rather than send null" : "";
      if ("message" in result) errors.push({ pointer, code: "invalid", message: result.message + advice });
      else if (Object.hasOwn(checked, place) && !isDeepStrictEqual(checked[place], result.value)) {
        errors.push({ pointer, code: "invalid", message: "must say the same as its other name; send one of them" });
      } else checked[place] = result.value;
    }
    const named = new Set(Object.keys(body).map((name) => rule.otherNames[name] ?? name));
    for (const name of required) {
      if (!named.has(name)) errors.push({ pointer: `/${name}`, code: "required", message: "is required" });
    }
    if (errors.length > 0) throw validationFailed(errors);
    return checked;
  };
}

/** Refuses a field that says something only when a key or secret is rotated. */
export function onlyInRotation<F extends object>(fields: F, name: keyof F & string, flag: keyof F & string): void {
  if (fields[name] === undefined || fields[flag]) return;
  const message = `is for a rotation; send ${flag}: true with it`;
  throw validationFailed([{ pointer: `/${name}`, code: "invalid", message }]);
}
