import { createScanner } from "jsonc-parser";
import { collapseWhiteSpace } from "./collapse-white-space.ts";

/**
 * Returns the text of one member of a JSON object, or undefined when the member is absent. Keeps
 * key order, escapes and number text, and removes white space between tokens. `bytes` must have
 * been accepted by `readJsonObject`.
 */
export function memberText(bytes: Uint8Array, name: string): string | undefined {
  const text = collapseWhiteSpace(decoder.decode(bytes));
  const scanner = createScanner(text, true);
  let depth = 0;
  let key: string | undefined;
  let valueText: string | undefined;
  // The scanner returns a token of length 0 at the end of the text.
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const offset = scanner.getTokenOffset();
    const first = text[offset] as string;
    if (first === "}" || first === "]") depth--;
    if ((depth === 1 && first === ",") || depth === 0) {
      if (valueText !== undefined) return valueText;
      key = undefined;
    } else if (key === undefined && depth === 1) {
      key = scanner.getTokenValue();
    } else if (key === name && (valueText !== undefined || first !== ":")) {
      valueText = (valueText ?? "") + text.slice(offset, offset + scanner.getTokenLength());
    }
    if (first === "{" || first === "[") depth++;
  }
  return undefined;
}

const decoder = new TextDecoder("utf-8");
