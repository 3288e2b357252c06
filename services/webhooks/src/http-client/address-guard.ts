import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { FairSemaphore } from "@amana/runtime";
import ipaddr from "ipaddr.js";
import { createNameResolver, limitResolver, type Resolve } from "./resolve-name.ts";

export type AddressGuard = ReturnType<typeof createAddressGuard>;

/** Thrown for a host with an address outside of the public internet. */
export class AddressNotPublic extends Error {
  constructor() {
    super("the address is not public");
    this.name = "AddressNotPublic";
  }
}

/** The block of all global unicast IPv6 addresses (IANA). */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
/**
 * Maximum number of names that a business's URL checks resolve at once. If the servers of a name do
 * not respond, the resolver keeps sockets open for seconds, even after the check has ended.
 */
const checksPerBusiness = 2;

/**
 * Creates the guard of webhook addresses. The guard allows global unicast addresses, and with
 * `allowInsecure` also loopback addresses and plain http. It never allows 0.0.0.0 or [::].
 */
export function createAddressGuard(options: { allowInsecure: boolean; resolve?: Resolve }) {
  // With `allowInsecure`, uses the operating system's resolver. It also resolves names of a local
  // sandbox, for example names in a hosts file.
  const { allowInsecure, resolve = allowInsecure ? (host) => lookup(host, { all: true }) : createNameResolver() } = options;
  const resolveName = limitResolver(resolve);
  const checks = new FairSemaphore({ slots: Number.POSITIVE_INFINITY, perTenant: checksPerBusiness });

  const allows = (address: string): boolean => {
    if (isIP(address) === 0 || address.includes("%")) return false;
    const parsed = ipaddr.parse(address);
    const range = parsed.range();
    if (range === "loopback") return allowInsecure;
    return range === "unicast" && (parsed.kind() === "ipv4" || parsed.match(globalUnicast));
  };

  const resolveAllowed = async (hostname: string, resolve: Resolve): Promise<LookupAddress[]> => {
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    const family = isIP(host);
    const resolvedAddresses = family === 0 ? await resolve(host) : [{ address: host, family }];
    if (!resolvedAddresses.every(({ address }) => allows(address))) throw new AddressNotPublic();
    return resolvedAddresses;
  };

  return {
    allowInsecure,
    allows,

    /**
     * Returns the addresses of a URL's host, which is a name or an IP address. Throws
     * AddressNotPublic if any address is forbidden, TooManyAddresses if the name has too many
     * addresses, and the resolver's error if the name cannot be resolved.
     */
    resolve: (hostname: string) => resolveAllowed(hostname, resolveName),

    /**
     * Returns the addresses like `resolve`, for a check of a business's URL. If the business's
     * checks already resolve `checksPerBusiness` names, waits for up to `waitMs`, then throws an
     * error.
     */
    resolveForCheck: (hostname: string, businessId: string, waitMs: number) =>
      resolveAllowed(hostname, (host) => checks.run(businessId, waitMs, () => resolveName(host))),
  };
}
