import { parseAst } from "rolldown/parseAst";
import { isNode, type Node } from "./find-expressions.ts";

export interface Prose {
  readonly kind: "comment" | "test title" | "message";
  readonly text: string;
  readonly line: number;
}

const testFunctions = new Set(["test", "it", "describe"]);
const logMethods = new Set(["trace", "debug", "info", "warn", "error", "fatal"]);

/**
 * Finds the sentences of a TypeScript or JavaScript file that people read: comments, test titles,
 * and messages of log calls and errors. Consecutive line comments are one comment.
 */
export function findProse(file: string, source: string): Prose[] {
  const lines = lineNumbers(source);
  const prose: Prose[] = [];
  const literals: Node[] = [];

  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isNode(value)) return;
    if (value.type === "Literal" || value.type === "TemplateElement") literals.push(value);
    for (const [kind, node] of proseOfCall(value)) {
      const text = textOf(node);
      if (text !== undefined && isNode(node)) prose.push({ kind, text, line: lines(node.start) });
    }
    for (const child of Object.values(value)) visit(child);
  };
  visit(parseAst(source, { lang: file.endsWith(".ts") ? "ts" : "js" }, file));
  return [...commentsOf(source, literals, lines), ...prose];
}

/** Returns the arguments of a call that are a test title or a message. */
function proseOfCall({ type, callee, arguments: callArguments }: Node): [Prose["kind"], unknown][] {
  if (!isNode(callee) || !Array.isArray(callArguments)) return [];
  if (type === "NewExpression") return String(callee["name"]).endsWith("Error") ? [["message", callArguments[0]]] : [];
  if (type !== "CallExpression") return [];
  if (testFunctions.has(rootOf(callee))) return [["test title", callArguments[0]]];
  const name = isNode(callee["property"]) ? String(callee["property"]["name"]) : "";
  return logMethods.has(name)
    ? callArguments.map((argument) => ["message", argument] as const).map(([kind, node]) => [kind, node])
    : [];
}

/** Returns the name that a callee begins with: "test" of `test.each([…])`. */
function rootOf(callee: Node): string {
  const inner = callee["object"] ?? callee["callee"];
  return isNode(inner) ? rootOf(inner) : String(callee["name"]);
}

function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node.type !== "TemplateLiteral") return undefined;
  return (node["quasis"] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join("…");
}

function commentsOf(source: string, literals: readonly Node[], lines: (index: number) => number): Prose[] {
  const ends = new Map(literals.map(({ start, end }) => [start, end]));
  const comments: Prose[] = [];
  let lastLine = -1;
  for (let at = 0; at < source.length; at++) {
    const end = ends.get(at);
    if (end !== undefined && end > at) {
      at = end - 1;
      continue;
    }
    if (source[at] !== "/" || !"/*".includes(source[at + 1] ?? " ")) continue;
    const isLine = source[at + 1] === "/";
    const close = source.indexOf(isLine ? "\n" : "*/", at + 2);
    const until = close < 0 ? source.length : close;
    const text = source
      .slice(at + 2, until)
      .replace(/^\*|^[ \t]*\*(?!\/)/gm, "")
      .trim();
    const line = lines(at);
    const previousComment = comments.at(-1);
    if (isLine && previousComment && lastLine === line - 1)
      comments[comments.length - 1] = { ...previousComment, text: `${previousComment.text} ${text}` };
    else comments.push({ kind: "comment", text: text.replaceAll(/\s+/g, " "), line });
    // A comment after code is not merged with a comment on the next line.
    const isAlone = /(^|\n)[ \t]*$/.test(source.slice(Math.max(0, at - 200), at));
    lastLine = isLine && isAlone ? line : -1;
    at = until;
  }
  return comments;
}

function lineNumbers(source: string): (index: number) => number {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (index) => {
    const nextLine = starts.findIndex((start) => start > index);
    return nextLine < 0 ? starts.length : nextLine;
  };
}
