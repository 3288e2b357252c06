import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Returns what rate limits count as one caller: an IPv4 address, or the /64 of an IPv6 address,
 * which one customer is given (RFC 6177). An IPv4-mapped IPv6 address is IPv4. Texts that are no
 * address, as a proxy may pass on, are one caller, so that a new text is not a new limit.
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
