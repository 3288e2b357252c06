import Negotiator from "negotiator";

/**
 * Returns whether an Accept header (RFC 9110, section 12.5.1) prefers a media type to the default
 * type of the response. If the header accepts both types equally, for example with the range
 * `*\/*`, the default type is preferred. Exception: a header that lists `type` before
 * `defaultType`.
 */
export function prefersType(accept: string | undefined, type: string, defaultType: string): boolean {
  const headers = { accept: accept?.slice(0, 1_000) ?? "" };
  return new Negotiator({ headers }).mediaType([defaultType, type]) === type;
}
