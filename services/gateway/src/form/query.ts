import { parse } from "node:querystring";
import { type TInteger, type TObject, Type } from "typebox";
import { shortened } from "../json/pointer.ts";
import { errorsMax, type FieldError, validationFailed } from "../problem.ts";
import { type Checked, compileField } from "./field.ts";
import { integer } from "./fields.ts";

/** A parameter that callers may leave out. Routes always find it, so its type does not say so. */
const withDefault = (schema: TInteger): TInteger => Type.Optional(schema) as unknown as TInteger;

/** The query parameters of every list. The largest offset is what an int32 holds. */
export const pageParameters = () => ({
  limit: withDefault(integer(1, 100, { default: 50 })),
  offset: withDefault(integer(0, 2_147_483_647, { default: 0 })),
});

/** A lone surrogate, which no well-formed query decodes to. */
const undecodable = "\ud800";

/**
 * Each takes a hundred bytes of memory. No operation has half as many parameters, so that so many
 * have unknown or repeated ones among them, and `compileQuery` refuses the query.
 */
const parametersMax = 2 * errorsMax;

/**
 * Reads the first 200 parameters of a query string. `compileQuery` can tell and refuse what is not
 * encoded UTF-8.
 */
export function parseQuery(text: string): Record<string, string | string[] | undefined> {
  return parse(text, "&", "=", { maxKeys: parametersMax, decodeURIComponent: decode });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return undecodable;
  }
}

type Read = (text: string) => unknown;

const readers: Record<string, Read> = {
  integer: (text) => (/^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === "true" ? true : text === "false" ? false : text),
};

/**
 * Reads parameters as what their schema says, and reports every one that is not. One that is not
 * known is wrong, since a misspelt filter would answer with everything, and so is a repeated one.
 * Throws a Problem.
 */
export function compileQuery(schema: TObject): (query: unknown) => Record<string, unknown> {
  const required = new Set(schema.required ?? []);
  const parameters = Object.entries(schema.properties).map(([name, property]) => {
    const { type = "string", default: fallback } = property as { type?: string; default?: unknown };
    return { name, fallback, read: readers[type] ?? ((text: string) => text), check: compileField(property) };
  });
  const known = new Set(Object.keys(schema.properties));
  const unknownParameter = "is not known here";
  // Only the first error lists the known parameters, as for the fields of a body.
  const firstUnknownParameter = `${unknownParameter}; ${known.size === 0 ? "none is" : `known are ${[...known].join(", ")}`}`;

  return (given) => {
    const query = given as Record<string, string | string[] | undefined>;
    const errors: FieldError[] = [];
    const checked: Record<string, unknown> = {};
    for (const { name, fallback, read, check } of parameters) {
      const text = query[name];
      if (text === undefined) {
        if (fallback !== undefined) checked[name] = fallback;
        else if (required.has(name)) errors.push({ parameter: name, code: "required", message: "is required" });
        continue;
      }
      const result = checkText(text, read, check);
      if ("message" in result) errors.push({ parameter: name, code: "invalid", message: result.message });
      else checked[name] = result.value;
    }
    let unknown = firstUnknownParameter;
    for (const name of Object.keys(query)) {
      if (errors.length > errorsMax) break;
      if (known.has(name)) continue;
      errors.push({ parameter: shortened(name).toWellFormed(), code: "unknown_parameter", message: unknown });
      unknown = unknownParameter;
    }
    if (errors.length > 0) throw validationFailed(errors);
    return checked;
  };
}

function checkText(text: string | string[], read: Read, check: (value: unknown) => Checked): Checked {
  if (typeof text !== "string") return { message: "must be given once" };
  if (!text.isWellFormed()) return { message: "must be percent-encoded UTF-8" };
  if (text.includes("\0")) return { message: "must not contain NUL" };
  return check(read(text));
}
