import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";

export type Resolve = (host: string) => Promise<LookupAddress[]>;

const timeoutMs = 2_000;
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
