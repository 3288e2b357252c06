import { domainToUnicode } from "node:url";
import { hostCharactersMax, parseUrl } from "@amana/public-api";
import { Type } from "typebox";
import { field } from "./field.ts";

const charactersMax = 2048;
const hostTooLong = `must have a host name of at most ${hostCharactersMax} characters`;
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern rejects control characters
const urlPattern = /^https?:\/\/(?<authority>[^\s\\/?#\u0000-\u001f\u007f]+)(?<rest>(?:[/?#][^\s\\\u0000-\u001f\u007f]*)?)$/i;

/**
 * Schema of an absolute https URL for a browser redirect, without credentials. With `insecure`, the
 * schema also accepts http on loopback. The URL is stored unchanged, so a URL that parsers would
 * repair is rejected. Non-ASCII characters are accepted, because all browsers encode them in the
 * same way.
 */
export const webUrl = (insecure: boolean, purpose: string, example: string) => {
  const message = insecure
    ? `must be an absolute https URL of at most ${charactersMax} characters; http is accepted only on loopback`
    : `must be an absolute https URL of at most ${charactersMax} characters`;
  const description = `${purpose} An absolute https URL of at most ${charactersMax} characters, without credentials. Non-ASCII characters need no encoding. The URL is stored unchanged.`;
  // Callers can check URLs with this pattern. `checkUrl` also checks the rules that a pattern
  // cannot express.
  const pattern = "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\]+$";
  const schema = Type.String({ format: "web-address", pattern, description, maxLength: charactersMax, examples: [example] });
  return field(schema, { message, accepts: (value: string) => checkUrl(value, insecure) });
};

function checkUrl(value: string, insecure: boolean): boolean | string {
  const { authority, rest = "" } = (value.length <= charactersMax && urlPattern.exec(value)?.groups) || {};
  if (authority === undefined) return false;
  if (authority.includes("@")) return "must not contain a user name or password";
  const url = parseUrl(value, authority);
  if (!url) return false;
  if (url === "host_too_long") return hostTooLong;
  if (url.protocol === "http:" && !(insecure && loopbackHost.test(url.hostname))) return false;
  if (url.href.length > charactersMax) return `must have at most ${charactersMax} characters after percent-encoding`;
  if (!isHostOf(url, authority) || encodeNonAscii(rest) !== encodeNonAscii(url.href.slice(url.origin.length))) {
    return `must have the form that browsers use: ${url.href}`;
  }
  return true;
}

/**
 * Returns whether the authority equals the URL's parsed host, apart from case and punycode. The
 * authority "127.1" does not equal its parsed host "127.0.0.1".
 */
function isHostOf(url: URL, authority: string): boolean {
  const host = authority
    .replace(/:\d{1,5}$/, "")
    .normalize("NFC")
    .toLowerCase();
  return host === url.hostname || host === domainToUnicode(url.hostname);
}

/** Encodes path, query and fragment as a URL parser does, without changing their meaning. */
function encodeNonAscii(rest: string): string {
  return `${rest.startsWith("/") ? "" : "/"}${rest}`.replaceAll(/[^\0-\x7f]+/g, encodeURIComponent).replaceAll("'", "%27");
}
