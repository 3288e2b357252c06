import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { setBounded } from "@amana/runtime";

export type Resolve = (host: string) => Promise<LookupAddress[]>;

const timeoutMs = 2_000;
/** Maximum number of addresses of a host name. */
const addressesMax = 32;
/**
 * Time for which a host name with too many addresses is refused without a query. A DNS response has
 * up to 64 KiB for each address family, and parsing both responses takes about 60 ms.
 */
const refusalMs = 5 * 60_000;
const refusalsMax = 1_000;
const localhost = /(^|\.)localhost\.?$/i;

/**
 * Creates a resolver that queries name servers directly. Node's `lookup` would block one of the
 * process's few threads for each query. Any business could then delay all other deliveries with
 * names whose servers do not respond. Tests set `servers`, each as address:port.
 */
export function createNameResolver(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers) resolver.setServers(servers);
  return async (host) => {
    // RFC 6761, section 6.3: localhost names must not be sent to name servers.
    if (localhost.test(host)) return [{ address: "127.0.0.1", family: 4 }];
    const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = results.flatMap((result, i) =>
      result.status === "fulfilled" ? result.value.map((address) => ({ address, family: i === 0 ? 4 : 6 })) : [],
    );
    const [failure] = results.filter((result) => result.status === "rejected");
    if (addresses.length === 0 && failure) throw failure.reason;
    return addresses;
  };
}

/** Thrown for a host name with more than `addressesMax` addresses. */
export class TooManyAddresses extends Error {
  constructor() {
    super(`the host name has more than ${addressesMax} addresses`);
    this.name = "TooManyAddresses";
  }
}

/**
 * Limits the work that a host name causes in a resolver. Concurrent calls for a name share one
 * resolution. Throws TooManyAddresses for a name with too many addresses. Keeps this result for
 * `refusalMs`, so that further calls send no query. Throws ENOTFOUND for a name without addresses.
 */
export function limitResolver(resolve: Resolve): Resolve {
  const inFlight = new Map<string, Promise<LookupAddress[]>>();
  const refusedUntilMs = new Map<string, number>();

  const resolveFew: Resolve = async (host) => {
    const addresses = await resolve(host);
    // A name can be an alias of a name without addresses. Node.js would throw an uncaught error for
    // an empty list.
    if (addresses.length === 0) throw Object.assign(new Error("the host name has no address"), { code: "ENOTFOUND" });
    if (addresses.length <= addressesMax) return addresses;
    setBounded(refusedUntilMs, host, performance.now() + refusalMs, refusalsMax);
    throw new TooManyAddresses();
  };
  return async (host) => {
    if ((refusedUntilMs.get(host) ?? 0) > performance.now()) throw new TooManyAddresses();
    let resolving = inFlight.get(host);
    if (!resolving) {
      resolving = resolveFew(host).finally(() => inFlight.delete(host));
      inFlight.set(host, resolving);
    }
    return await resolving;
  };
}
