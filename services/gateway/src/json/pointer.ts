const tokenLengthMax = 256;
const pointerLengthMax = 512;

/**
 * A JSON pointer (RFC 6901, section 3) for a message. A pointer of more than 512 characters is cut
 * and ends in "…": a hundred errors below one long key would otherwise repeat that key a hundred
 * times.
 */
export function pointerOf(path: readonly (string | number)[]): string {
  let pointer = "";
  for (const part of path) {
    pointer += `/${shortened(String(part)).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (pointer.length > pointerLengthMax) return `${pointer.slice(0, pointerLengthMax).toWellFormed()}…`;
  }
  return pointer;
}

/** A name from a request for a message: at most 256 characters of it. */
export function shortened(name: string): string {
  return name.length <= tokenLengthMax ? name : `${name.slice(0, tokenLengthMax).toWellFormed()}…`;
}
