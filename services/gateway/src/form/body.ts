import { isDeepStrictEqual } from "node:util";
import { type TObject, type TProperties, Type } from "typebox";
import { pointerOf } from "../json/pointer.ts";
import { errorsMax, type FieldError, invalidJson, validationFailed } from "../problem.ts";
import { compileField, type FieldResult } from "./field.ts";

export interface BodyRule {
  /** Whether an absent body is accepted and treated as an empty object. */
  readonly optional?: boolean;
  /** Fields of the resource that cannot be changed. They are rejected with `immutable_field`. */
  readonly immutable?: readonly string[];
  /** Field names by alias. A body with both names must have the same value in both. */
  readonly aliases?: Readonly<Record<string, string>>;
}

const ruleKey = Symbol("body rule");

/** Returns the schema of a request body that accepts only these fields. */
export function bodyOf(properties: TProperties, rule: BodyRule): TObject {
  return Object.assign(Type.Object(properties, { additionalProperties: false }), { [ruleKey]: rule });
}

/**
 * Compiles the validation of a request body. The returned function throws one Problem with an error
 * for each invalid field, up to `errorsMax` errors.
 */
export function compileBody(schema: TObject): (body: unknown) => Record<string, unknown> {
  const { optional = false, immutable = [], aliases = {} } = (schema as TObject & { [ruleKey]?: BodyRule })[ruleKey] ?? {};
  const required = new Set(schema.required ?? []);
  const fields = new Map<string, (value: unknown) => FieldResult>(
    Object.entries(schema.properties).map(([name, property]) => [name, compileField(property)]),
  );

  const knownFields = [...fields.keys()].join(", ") || "none";

  return (received) => {
    // Fastify passes null for an absent body. The JSON parser has already rejected the body `null`.
    if (received === null && !optional) throw invalidJson("The request has no body. Send a JSON object.");
    const body = (received ?? {}) as Record<string, unknown>;
    const errors: FieldError[] = [];
    const validBody: Record<string, unknown> = {};
    const presentFields = new Set<string>();
    // `Object.entries` would first copy all members, and a body can have thousands of them.
    for (const name in body) {
      if (errors.length > errorsMax) break;
      const value = body[name];
      const check = fields.get(name);
      const pointer = pointerOf([name]);
      if (!check && immutable.includes(name)) errors.push({ pointer, code: "immutable_field", message: "cannot be changed" });
      if (!check && !immutable.includes(name)) {
        // Only the first error lists the known fields, because a response may have 100 such errors.
        const isFirst = !errors.some(({ code }) => code === "unknown_field");
        const message = isFirst ? `is unknown; known fields: ${knownFields}` : "is unknown";
        errors.push({ pointer, code: "unknown_field", message });
      }
      if (!check) continue;
      const result = check(value);
      const target = aliases[name] ?? name;
      presentFields.add(target);
      const advice = value === null && !required.has(name) ? "; leave the field out instead of sending null" : "";
      if ("message" in result) errors.push({ pointer, code: "invalid", message: result.message + advice });
      else if (Object.hasOwn(validBody, target) && !isDeepStrictEqual(validBody[target], result.value)) {
        errors.push({ pointer, code: "invalid", message: "must have the same value as its alias; send only one of them" });
      } else validBody[target] = result.value;
    }
    for (const name of required) {
      if (!presentFields.has(name)) errors.push({ pointer: `/${name}`, code: "required", message: "is required" });
    }
    if (errors.length > 0) throw validationFailed(errors);
    return validBody;
  };
}

/**
 * Throws a Problem if the body has the field `name` without `flag: true`, which requests a
 * rotation.
 */
export function requireRotation<F extends object>(fields: F, name: keyof F & string, flag: keyof F & string): void {
  if (fields[name] === undefined || fields[flag]) return;
  const message = `requires ${flag}: true in the same request`;
  throw validationFailed([{ pointer: `/${name}`, code: "invalid", message }]);
}
