import Negotiator from "negotiator";

/**
 * Returns whether an Accept header (RFC 9110, section 12.5.1) prefers a media type to the default
 * type of the response. Of two types with the same quality, the header prefers the type that it
 * names more precisely, and then the type that it names first. If one range, for example `*\/*`,
 * covers both types, the default type is preferred.
 */
export function prefersType(accept: string | undefined, type: string, defaultType: string): boolean {
  const headers = { accept: accept?.slice(0, 1_000) ?? "" };
  return new Negotiator({ headers }).mediaType([defaultType, type]) === type;
}
