import { visit } from "jsonc-parser";
import { errorsMax, type FieldError, invalidJson, validationFailed } from "../problem.ts";
import { collapseWhiteSpace } from "./collapse-white-space.ts";
import { pointerOf, shorten } from "./pointer.ts";

const depthMax = 32;
/**
 * Maximum number of values in a body. An empty array of two bytes uses 180 bytes of memory, so a
 * body of a megabyte could use a hundred megabytes. Metadata of 16 KiB has at most 8 192 values.
 */
const valuesMax = 10_000;
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a request's body as a JSON object; returns undefined for an empty body. Stricter than
 * JSON.parse: UTF-8 only (a BOM is ignored), no repeated key in one object, at most 32 levels and
 * 10 000 values, no NUL and no lone surrogate in any string. Throws a Problem.
 * Before it returns or throws, calls `onValues` with the number of values that it has read, unless
 * the body is empty or not UTF-8.
 */
export function readJsonObject(bytes: Uint8Array, onValues?: (count: number) => void): Record<string, unknown> | undefined {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw invalidJson("The body is not UTF-8.");
  }
  const value = parseJson(text, onValues);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidJson("The body must be a JSON object.");
  }
  return value as Record<string, unknown>;
}

/**
 * Checks JSON text (RFC 8259) by the rules of `readJsonObject`, and then parses it with JSON.parse.
 * Throws a Problem at the first syntax error. The Problem contains the position of the error,
 * unless the text is large and has long runs of white space. Before it returns or throws, calls
 * `onValues` with the number of values that it has read.
 */
export function parseJson(json: string, onValues: (count: number) => void = () => {}): unknown {
  const text = collapseWhiteSpace(json);
  const positionOf = text === json ? shownPosition : () => "";
  /** Keys of each unfinished object or array, outermost first. Arrays have no keys. */
  const openKeys: Set<string>[] = [];
  const errors: FieldError[] = [];
  let valueCount = 0;

  const countValue = (line: number, character: number): void => {
    if (++valueCount > valuesMax) {
      throw invalidJson(`The body has more than ${valuesMax} values${positionOf(line, character)}.`);
    }
  };
  const openContainer = (_offset: number, _length: number, line: number, character: number): void => {
    if (openKeys.length === depthMax) {
      throw invalidJson(`The body is nested deeper than ${depthMax} levels${positionOf(line, character)}.`);
    }
    countValue(line, character);
    openKeys.push(new Set());
  };
  const checkText = (value: string, path: () => (string | number)[], message: string): void => {
    if (isStorable(value) || errors.length > errorsMax) return;
    errors.push({ pointer: pointerOf(path()), code: "invalid_text", message });
  };

  try {
    visit(
      text,
      {
        onObjectBegin: openContainer,
        onArrayBegin: openContainer,
        onObjectEnd: () => void openKeys.pop(),
        onArrayEnd: () => void openKeys.pop(),
        onObjectProperty: (key, _offset, _length, line, character, path) => {
          const keys = openKeys.at(-1) as Set<string>;
          if (keys.has(key)) {
            const position = positionOf(line, character);
            throw invalidJson(`The key ${JSON.stringify(shorten(key))} is repeated in one object${position}.`);
          }
          checkText(key, () => [...path(), key], "is a key with NUL or lone surrogates");
          keys.add(key);
        },
        onLiteralValue: (value, _offset, _length, line, character, path) => {
          if (typeof value === "string") checkText(value, path, "must not contain NUL or lone surrogates");
          countValue(line, character);
        },
        onError: (_code, _offset, _length, line, character) => {
          throw invalidJson(`The body is not JSON${positionOf(line, character)}.`);
        },
      },
      { disallowComments: true, allowTrailingComma: false },
    );
  } finally {
    onValues(valueCount);
  }
  if (errors.length > 0) throw validationFailed(errors);
  return JSON.parse(text);
}

/** PostgreSQL stores neither NUL nor lone surrogates. */
const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

/**
 * Returns a text such as ", at line 2, column 7". Lines and columns start at 1 in the text, and at
 * 0 in the parser.
 */
const shownPosition = (line: number, character: number): string => `, at line ${line + 1}, column ${character + 1}`;
