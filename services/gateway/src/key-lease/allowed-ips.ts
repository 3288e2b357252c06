import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * A network as CIDR in the one form it is kept and shown in: RFC 5952 for IPv6, without the bits of
 * hosts; IPv4 that is written as IPv6 is IPv4. A single address is a network of one. Undefined for
 * a text that is none.
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
 * Whether an address lies in one of the networks. IPv4 that is written as IPv6 is IPv4, and what is
 * no address, as a proxy may claim, lies nowhere.
 */
export function addressesOf(cidrs: readonly string[]): (address: string) => boolean {
  // One that cannot be read lets nobody in.
  const networks = cidrs.filter((cidr) => ipaddr.isValidCIDR(cidr)).map((cidr) => ipaddr.parseCIDR(cidr));
  return (text) => {
    if (isIP(text) === 0) return false;
    const address = ipaddr.process(text.split("%", 1)[0] as string);
    return networks.some((network) => network[0].kind() === address.kind() && address.match(network));
  };
}
