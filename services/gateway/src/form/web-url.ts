import { domainToUnicode } from "node:url";
import { Type } from "typebox";
import { field } from "./field.ts";

const charactersMax = 2048;
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not pass
const form = /^https?:\/\/(?<authority>[^\s\\/?#\u0000-\u001f\u007f]+)(?<rest>(?:[/?#][^\s\\\u0000-\u001f\u007f]*)?)$/i;

/**
 * An address that a browser will be sent to: absolute, https (with `insecure` also http on
 * loopback), without credentials. It is kept as it was sent, so what URL parsers would silently
 * repair is refused; letters beyond ASCII pass, because a browser turns them into punycode and
 * percent-encoding without any doubt.
 */
export const webUrl = (options: { insecure: boolean; examples: string[] }) => {
  const message = options.insecure
    ? `must be an absolute web address of at most ${charactersMax} characters (plain http only on loopback)`
    : `must be an absolute https address of at most ${charactersMax} characters`;
  const description = "An absolute https URL without credentials. Letters beyond ASCII need no encoding. Kept as it was sent.";
  // What a reader of the document can check by itself; `judge` says the rest.
  const pattern = "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\]+$";
  const schema = Type.String({
    format: "web-address",
    pattern,
    description,
    maxLength: charactersMax,
    examples: options.examples,
  });
  return field(schema, {
    message,
    accepts: (value: string) => judge(value, options.insecure),
  });
};

function judge(value: string, insecure: boolean): boolean | string {
  const { authority, rest = "" } = (value.length <= charactersMax && form.exec(value)?.groups) || {};
  const url = URL.parse(value);
  if (authority === undefined || !url) return false;
  if (authority.includes("@")) return "must not carry a user name or password";
  if (url.protocol === "http:" && !(insecure && loopbackHost.test(url.hostname))) return false;
  if (url.href.length > charactersMax) return `must have at most ${charactersMax} characters once it is percent-encoded`;
  if (!isHostOf(url, authority) || encoded(rest) !== encoded(url.href.slice(url.origin.length))) {
    return `must be written as browsers read it: ${url.href}`;
  }
  return true;
}

/** Whether the host is the parser's but for case and punycode: "127.1" is not "127.0.0.1". */
function isHostOf(url: URL, authority: string): boolean {
  const host = authority
    .replace(/:\d{1,5}$/, "")
    .normalize("NFC")
    .toLowerCase();
  return host === url.hostname || host === domainToUnicode(url.hostname);
}

/** Path, query and fragment with the changes that change nothing. */
function encoded(rest: string): string {
  return `${rest.startsWith("/") ? "" : "/"}${rest}`.replaceAll(/[^\0-\x7f]+/g, encodeURIComponent).replaceAll("'", "%27");
}
