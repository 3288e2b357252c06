/**
 * Returns the text without slashes at its end. It uses a loop, because a regular expression takes
 * quadratic time for many slashes.
 */
export function withoutSlashes(text: string): string {
  let rest = text;
  while (rest.endsWith("/")) rest = rest.slice(0, -1);
  return rest;
}
