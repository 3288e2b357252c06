import { parseUrl } from "@amana/public-api";
import type { DomainError } from "@amana/rpc";
import { waitAtMost } from "@amana/runtime";
import { type AddressGuard, AddressNotPublic } from "../http-client/address-guard.ts";
import {
  urlHasCredentials,
  urlHasFragment,
  urlHostTooLong,
  urlInvalid,
  urlNotHttps,
  urlNotPublic,
  urlTooLong,
} from "./webhook-endpoint.errors.ts";

const urlCharactersMax = 2_048;
/**
 * Maximum wait for name servers and for the business's other checks, so that a slow name server
 * does not delay the registration. After this time, the URL is accepted, because each connection
 * checks the address again.
 */
const resolveTimeoutMs = 2_000;

/**
 * Returns the reason why a URL cannot be used for deliveries, or undefined if it can. Accepts a
 * host name that cannot be resolved at the moment or has too many addresses, because each
 * connection checks the addresses again.
 */
export async function validateUrl(text: string, addresses: AddressGuard, businessId: string): Promise<DomainError | undefined> {
  if (text.length > urlCharactersMax) return urlTooLong();
  // Checks the text first, because URL.parse would remove white space, replace backslashes and
  // repair "https:example.com".
  const { authority } = /^[a-z]+:\/\/(?<authority>[^\s\p{Cc}\\/?#]+)(?:[/?#][^\s\p{Cc}\\]*)?$/iu.exec(text)?.groups ?? {};
  if (authority === undefined) return urlInvalid();
  // Checks the text, because URL.parse removes an empty user name, as in "https://@example.com".
  if (authority.includes("@")) return urlHasCredentials();
  const url = parseUrl(text, authority);
  if (!url) return urlInvalid();
  if (url === "host_too_long") return urlHostTooLong();
  if (url.protocol !== "https:" && !(url.protocol === "http:" && addresses.allowInsecure)) return urlNotHttps();
  if (text.includes("#")) return urlHasFragment();
  try {
    await waitAtMost(resolveTimeoutMs, addresses.resolveForCheck(url.hostname, businessId, resolveTimeoutMs));
  } catch (error) {
    if (error instanceof AddressNotPublic) return urlNotPublic();
  }
  return undefined;
}
