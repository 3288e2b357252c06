import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Returns a network in its canonical CIDR form: RFC 5952 for IPv6, host bits set to 0, IPv4 instead
 * of IPv4-mapped IPv6. A single address becomes a network with one address. Returns undefined when
 * the text is not a network.
 */
export function canonicalCidr(text: string): string | undefined {
  const [address = "", length, ...more] = text.split("/");
  if (isIP(address) === 0 || address.includes("%") || more.length > 0) return undefined;
  const parsed = ipaddr.parse(address);
  const bitsMax = parsed.kind() === "ipv4" ? 32 : 128;
  if (length !== undefined && (!/^(0|[1-9]\d{0,2})$/.test(length) || Number(length) > bitsMax)) return undefined;
  const bits = Number(length ?? bitsMax);
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) {
    return bits < 96 ? undefined : canonicalCidr(`${parsed.toIPv4Address()}/${bits - 96}`);
  }
  const family = parsed.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${family.networkAddressFromCIDR(`${address}/${bits}`)}/${bits}`;
}

/**
 * Creates a function that returns whether an address is in one of the networks. The function
 * compares an IPv4-mapped IPv6 address as an IPv4 address. It returns false for a text that is not
 * an address, because a proxy may send any text.
 */
export function createAddressFilter(cidrs: readonly string[]): (address: string) => boolean {
  // An invalid network contains no address.
  const networks = cidrs.filter((cidr) => ipaddr.isValidCIDR(cidr)).map((cidr) => ipaddr.parseCIDR(cidr));
  return (text) => {
    if (isIP(text) === 0) return false;
    const address = ipaddr.process(text.split("%", 1)[0] as string);
    return networks.some((network) => network[0].kind() === address.kind() && address.match(network));
  };
}
