import Negotiator from "negotiator";

/**
 * Returns whether an Accept header (RFC 9110, section 12.5.1) prefers a media type to the default
 * type of the response. A header that accepts both types equally, for example with a range such as
 * `*\/*`, gets the default type, unless it names the other type first.
 */
export function prefersType(accept: string | undefined, type: string, defaultType: string): boolean {
  const headers = { accept: accept?.slice(0, 1_000) ?? "" };
  return new Negotiator({ headers }).mediaType([defaultType, type]) === type;
}
