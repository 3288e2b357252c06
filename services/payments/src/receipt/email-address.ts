import { emailCharactersMax } from "@amana/receipts";

/** Maximum length of the part of an address before the @ (RFC 5321, section 4.5.3.1.1). */
export const localPartMax = 64;
/** Local part of an address: a dot-atom (RFC 5322, section 3.2.3). */
const localForm = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
/** A label of a domain (RFC 1035, section 2.3.1). */
const labelForm = /^(?!-)[a-z0-9-]{1,63}$/i;

/**
 * Returns the address with its domain in lower case, or undefined if it is not valid. A valid
 * address contains no character that has a meaning in e-mail headers, so it cannot add a recipient
 * to a header. Quoted local parts and address literals are rejected, because no buyer needs them.
 */
export function parseEmailAddress(text: string): string | undefined {
  const address = text.trim();
  if (address.length > emailCharactersMax) return undefined;
  const at = address.lastIndexOf("@");
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  if (at < 1 || local.length > localPartMax || !localForm.test(local) || !isDomain(domain)) return undefined;
  return `${local}@${domain.toLowerCase()}`;
}

/**
 * Returns whether a text is a domain name with at least one dot and a top-level domain that starts
 * with a letter.
 */
function isDomain(text: string): boolean {
  const labels = text.split(".");
  const isTopLevel = /^[a-z][a-z0-9-]+$/i.test(labels.at(-1) ?? "");
  return labels.length > 1 && isTopLevel && labels.every((label) => labelForm.test(label) && !label.endsWith("-"));
}
