/** Maximum length of a host name (RFC 1035, section 2.3.4), without the final dot. */
export const hostCharactersMax = 253;
/** Maximum length of the text between "//" and the path: host name and port. */
const authorityCharactersMax = hostCharactersMax + ":65535".length;

/**
 * Parses a URL. `authority` is its text between "//" and the path. Returns null if the text is not
 * a URL. Checks the length of the authority before it parses the URL, because the parser needs time
 * that grows with the square of the length of a host name with non-ASCII characters.
 */
export function parseUrl(text: string, authority: string): URL | "host_too_long" | null {
  if (authority.length > authorityCharactersMax) return "host_too_long";
  const url = URL.parse(text);
  return url && url.hostname.length > hostCharactersMax ? "host_too_long" : url;
}
