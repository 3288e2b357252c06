import { type FieldError, invalidJson, validationFailed } from "../problem.ts";

const depthMax = 32;
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a request's body as a JSON object, stricter than JSON.parse: UTF-8 only (a BOM is ignored),
 * no repeated key in one object, at most 32 levels, no NUL and no lone surrogate in any text.
 * Throws a Problem. Undefined for no bytes.
 */
export function readJsonObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw invalidJson("The body is not UTF-8.");
  }
  refuseDeepAndRepeated(text);
  const value = parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidJson("The body must be a JSON object.");
  }
  // Only an escape can bring in what UTF-8 and JSON's grammar refuse.
  if (text.includes("\\u")) refuseBrokenTexts(value);
  return value as Record<string, unknown>;
}

/**
 * One pass over text that need not be JSON yet: it runs first, because JSON.parse takes a fifth of
 * a second for a megabyte of brackets. What is no JSON at all is left to JSON.parse.
 */
function refuseDeepAndRepeated(text: string): void {
  /** The keys seen in each open object; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "{" || c === "[") {
      open.push(c === "{" ? new Set() : undefined);
      if (open.length > depthMax) throw invalidJson(`The body is nested deeper than ${depthMax} levels${placeOf(text, i)}.`);
    } else if (c === "}" || c === "]") {
      open.pop();
    } else if (c === '"') {
      const start = i;
      for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === "\\") i++;
      const keys = open.at(-1);
      if (!keys || !isFollowedByColon(text, i + 1)) continue;
      const key = parse(text.slice(start, i + 1)) as string;
      if (keys.has(key)) throw invalidJson(`The key ${JSON.stringify(key)} is repeated in one object${placeOf(text, start)}.`);
      keys.add(key);
    }
  }
}

function isFollowedByColon(text: string, from: number): boolean {
  let i = from;
  while (text[i] === " " || text[i] === "\n" || text[i] === "\r" || text[i] === "\t") i++;
  return text[i] === ":";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson(`The body is not JSON${placeOf(text, faultOf(text, error as Error))}.`);
  }
}

/** JSON.parse names the place of all faults but two: a word that is no value, and an early end. */
function faultOf(text: string, { message }: Error): number {
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return Number(position);
  const withoutStrings = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/gs, (string) => '"'.repeat(string.length));
  for (const { 0: word, index } of withoutStrings.matchAll(/[^\s{}[\],:"]+/g)) {
    if (!/^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/.test(word)) return index;
  }
  return text.length;
}

/** ", at line 2, column 7", both counted from 1. */
function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split(/\r\n|[\r\n]/);
  return `, at line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

function refuseBrokenTexts(body: object): void {
  const errors: FieldError[] = [];
  const isBroken = (text: string) => text.includes("\0") || !text.isWellFormed();
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value === "string") {
      if (isBroken(value)) errors.push({ pointer, code: "invalid_text", message: "must not contain NUL or lone surrogates" });
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        const place = `${pointer}/${pointerToken(key)}`;
        if (isBroken(key)) errors.push({ pointer: place, code: "invalid_text", message: "is a key with NUL or lone surrogates" });
        else visit(member, place);
      }
    }
  };
  visit(body, "");
  if (errors.length > 0) throw validationFailed(errors);
}

/** A key as a part of a JSON pointer (RFC 6901, section 3). */
export function pointerToken(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
