import { parse } from "node:querystring";
import { type TInteger, type TObject, Type } from "typebox";
import { shorten } from "../json/pointer.ts";
import { errorsMax, type FieldError, validationFailed } from "../problem.ts";
import { compileField, type FieldResult } from "./field.ts";
import { integer } from "./fields.ts";

/** A parameter with a default. Its type is not optional, because routes always receive a value. */
const withDefault = (schema: TInteger): TInteger => Type.Optional(schema) as unknown as TInteger;

/** The query parameters of every list. The maximum offset is the largest int32. */
export const paginationParameters = () => ({
  limit: withDefault(integer(1, 100, { default: 50, description: "Maximum number of items on the page." })),
  offset: withDefault(integer(0, 2_147_483_647, { default: 0, description: "Number of items to skip before the page." })),
});

/** A lone surrogate. No well-formed query decodes to it. */
const undecodable = "\ud800";

/**
 * Maximum number of parameters that are parsed. This limits memory, because each parameter uses
 * about 100 bytes. No operation has 100 parameters. Therefore a query with 200 parameters contains
 * unknown or repeated parameters, and `compileQuery` rejects it.
 */
const parametersMax = 2 * errorsMax;

/**
 * Maximum number of names and values of a query that `parseQuery` fails to decode. Each failure
 * takes about 2 µs of CPU time, and the gateway parses a query before it checks the API key and
 * rate limits.
 */
const failuresMax = 10;

/**
 * Parses the first 200 parameters of a query string. A name or value whose percent-encoding is not
 * valid UTF-8 becomes a lone surrogate, which `compileQuery` rejects. After ten such names or
 * values, each further name or value with a percent sign becomes a lone surrogate too.
 */
export function parseQuery(text: string): Record<string, string | string[] | undefined> {
  let failures = 0;
  const decode = (encoded: string): string => {
    if (!encoded.includes("%")) return encoded;
    if (failures === failuresMax) return undecodable;
    try {
      return decodeURIComponent(encoded);
    } catch {
      failures++;
      return undecodable;
    }
  };
  return parse(text, "&", "=", { maxKeys: parametersMax, decodeURIComponent: decode });
}

type ReadText = (text: string) => unknown;

const readers: Record<string, ReadText> = {
  integer: (text) => (/^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === "true" ? true : text === "false" ? false : text),
};

/**
 * Compiles a check that converts parameters to the types of their schemas. The check throws one
 * Problem with an error for each invalid, unknown or repeated parameter. Unknown parameters are
 * rejected, because a list with a misspelt filter would contain all items.
 */
export function compileQuery(schema: TObject): (query: unknown) => Record<string, unknown> {
  const required = new Set(schema.required ?? []);
  const parameters = Object.entries(schema.properties).map(([name, property]) => {
    const { type = "string", default: fallback } = property as { type?: string; default?: unknown };
    return { name, fallback, read: readers[type] ?? ((text: string) => text), check: compileField(property) };
  });
  const knownParameters = new Set(Object.keys(schema.properties));

  return (received) => {
    const query = received as Record<string, string | string[] | undefined>;
    const errors: FieldError[] = [];
    const validQuery: Record<string, unknown> = {};
    for (const { name, fallback, read, check } of parameters) {
      const text = query[name];
      if (text === undefined) {
        if (fallback !== undefined) validQuery[name] = fallback;
        else if (required.has(name)) errors.push({ parameter: name, code: "required", message: "is required" });
        continue;
      }
      const result = checkText(text, read, check);
      if ("message" in result) errors.push({ parameter: name, code: "invalid", message: result.message });
      else validQuery[name] = result.value;
    }
    const unknownParameters = Object.keys(query).filter((name) => !knownParameters.has(name));
    for (const [i, name] of unknownParameters.entries()) {
      if (errors.length > errorsMax) break;
      // Only the first error lists the known parameters, as for the fields of a body.
      const message = i === 0 ? `is unknown; known parameters: ${[...knownParameters].join(", ") || "none"}` : "is unknown";
      errors.push({ parameter: shorten(name).toWellFormed(), code: "unknown_parameter", message });
    }
    if (errors.length > 0) throw validationFailed(errors);
    return validQuery;
  };
}

function checkText(text: string | string[], read: ReadText, check: (value: unknown) => FieldResult): FieldResult {
  if (typeof text !== "string") return { message: "must occur only once" };
  if (!text.isWellFormed()) return { message: "must be percent-encoded UTF-8" };
  if (text.includes("\0")) return { message: "must not contain NUL" };
  return check(read(text));
}
