import { Resolver } from "node:dns/promises";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (host: string) => Promise<ResolvedAddress[]>;

const timeoutMs = 2_000;
const localhost = /(^|\.)localhost\.?$/i;

/**
 * Creates a resolver that queries name servers directly. `lookup` would use the few threads of the
 * process, so names whose servers do not respond would delay all other deliveries, and any business
 * can register such names. `servers` are address:port, for tests.
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
