import { Resolver } from "node:dns/promises";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (host: string) => Promise<ResolvedAddress[]>;

const timeoutMs = 2_000;
const localhost = /(^|\.)localhost\.?$/i;

/**
 * Asks name servers. Not `lookup`, which the system answers on two of the process's few threads:
 * names whose servers keep silent, and any business may register some, would make every other
 * delivery wait for theirs. `servers` are address:port, for tests.
 */
export function createNameResolver(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers) resolver.setServers(servers);
  return async (host) => {
    // Name servers are not to be asked for these (RFC 6761, section 6.3).
    if (localhost.test(host)) return [{ address: "127.0.0.1", family: 4 }];
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = answers.flatMap((answer, i) =>
      answer.status === "fulfilled" ? answer.value.map((address) => ({ address, family: i === 0 ? 4 : 6 })) : [],
    );
    const [failure] = answers.filter((answer) => answer.status === "rejected");
    if (found.length === 0 && failure) throw failure.reason;
    return found;
  };
}
