import { extname } from "node:path";
import { parseAst } from "rolldown/parseAst";

export interface RegularExpression {
  readonly pattern: string;
  readonly flags: string;
  /** File and line of the expression. */
  readonly at: string;
}

/** Regular expressions of a file. `computed`: calls with a computed expression, as "file: code". */
export interface FoundExpressions {
  readonly expressions: RegularExpression[];
  readonly computed: string[];
}

/**
 * Finds every regular expression in a source file, in the code samples of a Markdown document, or
 * in the JSON schemas of an OpenAPI document. Skips Go, whose regular expressions are linear.
 */
export function findExpressions(file: string, text: string): FoundExpressions {
  switch (extname(file)) {
    case ".ts":
    case ".js":
    case ".mjs":
      return findInJavaScript(file, text, extname(file) === ".ts" ? "ts" : "js");
    case ".py":
      return findInCalls(file, text, /\bre\.(compile|search|match|fullmatch|split|sub|subn|findall|finditer)\(\s*/g, readPython);
    case ".php":
      return findInCalls(file, text, /\bpreg_(match|match_all|replace|replace_callback|split|grep)\(\s*/g, readPhp);
    case ".json":
      return findInSchemas(file, JSON.parse(text));
    case ".md":
      return findInSamples(file, text);
    default:
      throw new Error(`${file}: findExpressions cannot read this type of file`);
  }
}

const merge = (parts: readonly FoundExpressions[]): FoundExpressions => ({
  expressions: parts.flatMap(({ expressions }) => expressions),
  computed: parts.flatMap(({ computed }) => computed),
});

const lineOf = (text: string, index: number) => text.slice(0, index).split("\n").length;

export type Node = { type: string; start: number; end: number } & Record<string, unknown>;
export const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value;

function findInJavaScript(file: string, text: string, lang: "ts" | "js"): FoundExpressions {
  const found: FoundExpressions = { expressions: [], computed: [] };
  const add = ({ start }: Node, pattern: string, flags: string) =>
    found.expressions.push({ pattern, flags, at: `${file}:${lineOf(text, start)}` });

  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isNode(value)) return;
    const { regex } = value as { regex?: { pattern: string; flags: string } };
    if (regex) add(value, regex.pattern, regex.flags);
    if (isCallOfRegExp(value)) {
      const [pattern, flags] = (value["arguments"] as unknown[]).map(stringOf);
      if (pattern === undefined) found.computed.push(`${file}: ${text.slice(value.start, value.end)}`);
      else add(value, pattern, flags ?? "");
    }
    // A `pattern` of a JSON schema. Computed patterns are checked in the OpenAPI document.
    const schema = isNode(value["key"]) && value["key"]["name"] === "pattern" ? stringOf(value["value"]) : undefined;
    if (schema !== undefined) add(value, schema, "u");
    for (const child of Object.values(value)) visit(child);
  };
  visit(parseAst(text, { lang }, file));
  return found;
}

const isCallOfRegExp = ({ type, callee }: Node) =>
  (type === "NewExpression" || type === "CallExpression") && isNode(callee) && callee["name"] === "RegExp";

/** Returns the value of a string literal, or of a template without expressions. */
function stringOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  const quasis = node.type === "TemplateLiteral" ? (node["quasis"] as { value: { cooked: string } }[]) : [];
  return quasis.length === 1 ? quasis[0]?.value.cooked : undefined;
}

type Read = (source: string, call: string) => Pick<RegularExpression, "pattern" | "flags"> | undefined;

/**
 * Finds calls whose first argument is the expression, in a language for which this file has no
 * parser.
 */
function findInCalls(file: string, text: string, call: RegExp, read: Read): FoundExpressions {
  const found: FoundExpressions = { expressions: [], computed: [] };
  for (const { index, 0: begin, 1: name = "" } of text.matchAll(call)) {
    const source = text.slice(index + begin.length);
    const expression = read(source, name);
    if (expression) found.expressions.push({ ...expression, at: `${file}:${lineOf(text, index)}` });
    else found.computed.push(`${file}: ${begin}${source.split("\n", 1)[0]}`);
  }
  return found;
}

const readPython: Read = (source, call) => {
  const [, raw, , text] = /^(r?)(["'])((?:[^\\\n]|\\.)*?)\2/.exec(source) ?? [];
  if (text === undefined || (raw === "" && text.includes("\\"))) return undefined;
  const pattern = call === "fullmatch" ? `^(?:${text})$` : call === "match" ? `^(?:${text})` : text;
  return { pattern, flags: "" };
};

const readPhp: Read = (source) => {
  const [, text] = /^'((?:[^'\\]|\\.)*)'/.exec(source) ?? [];
  const delimiter = text?.[0];
  if (!text || !delimiter) return undefined;
  const end = text.lastIndexOf(delimiter);
  // With the flag D, "$" matches at the end only, as in JavaScript.
  const flags = text.slice(end + 1).replace("D", "");
  return /^[imsu]*$/.test(flags) ? { pattern: text.slice(1, end), flags } : undefined;
};

function findInSchemas(file: string, document: unknown): FoundExpressions {
  const patterns = new Set<string>();
  JSON.stringify(document, (key, value) => {
    if (key === "pattern" && typeof value === "string") patterns.add(value);
    return value;
  });
  return { expressions: [...patterns].map((pattern) => ({ pattern, flags: "u", at: file })), computed: [] };
}

const languages: Readonly<Record<string, string>> = { ts: ".ts", typescript: ".ts", js: ".mjs", python: ".py", php: ".php" };

function findInSamples(file: string, text: string): FoundExpressions {
  const samples = text.matchAll(/^ *```(\w+)\n(.*?)^ *```/gms);
  return merge(
    [...samples].flatMap(({ 1: language = "", 2: code = "" }) => {
      const extension = languages[language];
      return extension ? [findExpressions(`${file}${extension}`, code)] : [];
    }),
  );
}
