/**
 * The text of one member of a JSON object as it was sent, key order, escapes and numbers included;
 * only the white space between tokens is gone. Undefined when there is no such member. For bytes
 * that `readJsonObject` accepted.
 */
export function memberText(bytes: Uint8Array, name: string): string | undefined {
  const text = decoder.decode(bytes);
  let depth = 0;
  let key: string | undefined;
  let kept: string | undefined;
  for (const [token] of text.matchAll(tokens)) {
    if (token === "}" || token === "]") depth--;
    if (depth === 1 && kept === undefined && token.startsWith('"') && key === undefined) {
      key = JSON.parse(token) as string;
    } else if (depth === 1 && token === ",") {
      if (kept !== undefined) return kept;
      key = undefined;
    } else if (depth === 0 && token === "}") {
      return kept;
    } else if (key === name && !(depth === 1 && token === ":")) {
      kept = (kept ?? "") + token;
    }
    if (token === "{" || token === "[") depth++;
  }
  return kept;
}

const decoder = new TextDecoder("utf-8");
/** A string, a mark, a number or a word; the rest is white space (RFC 8259, section 2). */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
