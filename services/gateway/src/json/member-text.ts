import { createScanner } from "jsonc-parser";

/**
 * Returns the text of one member of a JSON object as it was sent: key order, escapes and number
 * text are kept, white space between tokens is removed. Undefined when there is no such member. For
 * bytes that `readJsonObject` accepted.
 */
export function memberText(bytes: Uint8Array, name: string): string | undefined {
  const text = decoder.decode(bytes);
  const scanner = createScanner(text, true);
  let depth = 0;
  let key: string | undefined;
  let kept: string | undefined;
  // The token at the end of the text has no length.
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const offset = scanner.getTokenOffset();
    const first = text[offset] as string;
    if (first === "}" || first === "]") depth--;
    if ((depth === 1 && first === ",") || depth === 0) {
      if (kept !== undefined) return kept;
      key = undefined;
    } else if (key === undefined && depth === 1) {
      key = scanner.getTokenValue();
    } else if (key === name && (kept !== undefined || first !== ":")) {
      kept = (kept ?? "") + text.slice(offset, offset + scanner.getTokenLength());
    }
    if (first === "{" || first === "[") depth++;
  }
  return undefined;
}

const decoder = new TextDecoder("utf-8");
