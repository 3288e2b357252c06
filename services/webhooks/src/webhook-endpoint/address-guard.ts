import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { buildConnector } from "undici";
import { createNameResolver, type Resolve, type ResolvedAddress } from "./resolve-name.ts";

export type AddressGuard = ReturnType<typeof createAddressGuard>;

/** The host leads, or may lead, into a network that is not the public internet. */
export class AddressNotPublic extends Error {
  constructor() {
    super("the address is not public");
    this.name = "AddressNotPublic";
  }
}

/** IANA hands out global unicast IPv6 addresses from this block alone. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Where webhooks may go: to global unicast addresses, and with `allowInsecure` also to loopback and
 * over plain http. 0.0.0.0 and [::] never.
 */
export function createAddressGuard(options: { allowInsecure: boolean; resolve?: Resolve }) {
  // In a sandbox also the names that only the system knows, such as those of a hosts file.
  const { allowInsecure, resolve = allowInsecure ? (host) => lookup(host, { all: true }) : createNameResolver() } = options;

  const allows = (address: string): boolean => {
    if (isIP(address) === 0 || address.includes("%")) return false;
    const parsed = ipaddr.parse(address);
    const range = parsed.range();
    if (range === "loopback") return allowInsecure;
    return range === "unicast" && (parsed.kind() === "ipv4" || parsed.match(globalUnicast));
  };

  return {
    allowInsecure,
    allows,

    /**
     * The addresses of a URL's host, which may be a literal. A name with public and private ones is
     * refused whole. Throws AddressNotPublic, or the resolver's error.
     */
    async resolve(hostname: string): Promise<ResolvedAddress[]> {
      const host = hostname.replace(/^\[(.*)\]$/, "$1");
      const family = isIP(host);
      const found = family === 0 ? await resolve(host) : [{ address: host, family }];
      if (!found.every(({ address }) => allows(address))) throw new AddressNotPublic();
      return found;
    },
  };
}

/**
 * Creates a connector that refuses forbidden addresses: those of names when they are resolved,
 * literals here, because sockets do not look them up. HTTP/1.1 alone: a connection then carries one
 * request, so cutting it off disturbs no other.
 */
export function guardedConnector(addresses: AddressGuard, timeoutMs: number): buildConnector.connector {
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    addresses.resolve(hostname).then(
      (found) => (all ? callback(null, [...found]) : callback(null, found[0]?.address ?? "", found[0]?.family)),
      (error: NodeJS.ErrnoException) => callback(error, "", 0),
    );
  };
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, lookup, maxCachedSessions: 1_000 } as object);
  return (target, callback) => {
    const host = target.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(host) !== 0 && !addresses.allows(host)) callback(new AddressNotPublic(), null);
    else connect(target, callback);
  };
}
