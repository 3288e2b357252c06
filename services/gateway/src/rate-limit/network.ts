import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Returns the network that limits count as one caller: an IPv4 address, or the /64 of an IPv6
 * address, because one customer has a whole /64 (RFC 6177). An IPv4-mapped IPv6 address counts as
 * IPv4. A proxy may send a text that is not an address. All such texts count as one network,
 * because otherwise each text would have its own limit.
 */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return "no address";
  const parsed = ipaddr.process(address.split("%", 1)[0] as string);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}
