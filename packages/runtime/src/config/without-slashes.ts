/**
 * Returns the text without slashes at its end. A loop, because a regular expression takes quadratic
 * time on many slashes.
 */
export function withoutSlashes(text: string): string {
  let rest = text;
  while (rest.endsWith("/")) rest = rest.slice(0, -1);
  return rest;
}
