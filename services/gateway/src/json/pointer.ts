const tokenLengthMax = 256;
const pointerLengthMax = 512;

/**
 * Returns a JSON pointer (RFC 6901, section 3) for a message. Cuts a longer pointer after 512
 * characters and appends "…". Otherwise a response with a hundred errors in one object with a long
 * key would contain this key a hundred times.
 */
export function pointerOf(path: readonly (string | number)[]): string {
  let pointer = "";
  for (const part of path) {
    pointer += `/${shorten(String(part)).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (pointer.length > pointerLengthMax) return `${pointer.slice(0, pointerLengthMax).toWellFormed()}…`;
  }
  return pointer;
}

/** Returns at most 256 characters of a name in the request, for use in a message. */
export function shorten(name: string): string {
  return name.length <= tokenLengthMax ? name : `${name.slice(0, tokenLengthMax).toWellFormed()}…`;
}
