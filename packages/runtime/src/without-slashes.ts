/**
 * Returns the text without slashes at its end. A regular expression takes quadratic time on a long
 * row of slashes.
 */
export function withoutSlashes(text: string): string {
  let rest = text;
  while (rest.endsWith("/")) rest = rest.slice(0, -1);
  return rest;
}
