import type { DomainError } from "@amana/rpc";
import { waitAtMost } from "@amana/runtime";
import { type AddressGuard, AddressNotPublic } from "./address-guard.ts";
import {
  urlHasCredentials,
  urlHasFragment,
  urlInvalid,
  urlNotHttps,
  urlNotPublic,
  urlTooLong,
} from "./webhook-endpoint.errors.ts";

const urlCharactersMax = 2_048;
/** A slower name server does not hold up a registration; each connection judges anew. */
const resolveTimeoutMs = 2_000;

/**
 * Why deliveries cannot go to this URL, or undefined when they can. A name that does not resolve
 * now passes: every connection is judged again by the address it goes to.
 */
export async function refusalOfUrl(text: string, addresses: AddressGuard): Promise<DomainError | undefined> {
  if (text.length > urlCharactersMax) return urlTooLong();
  // URL.parse would drop white space, turn backslashes and repair "https:example.com".
  const { authority } = /^[a-z]+:\/\/(?<authority>[^\s\p{Cc}\\/?#]+)(?:[/?#][^\s\p{Cc}\\]*)?$/iu.exec(text)?.groups ?? {};
  if (authority === undefined) return urlInvalid();
  const url = URL.parse(text);
  if (!url) return urlInvalid();
  if (url.protocol !== "https:" && !(url.protocol === "http:" && addresses.allowInsecure)) return urlNotHttps();
  // Empty credentials leave no trace in the parsed URL.
  if (authority.includes("@")) return urlHasCredentials();
  if (text.includes("#")) return urlHasFragment();
  try {
    await waitAtMost(resolveTimeoutMs, addresses.resolve(url.hostname));
  } catch (error) {
    if (error instanceof AddressNotPublic) return urlNotPublic();
  }
  return undefined;
}
