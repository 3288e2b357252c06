import { isIPv6 } from "node:net";

/**
 * What counts as one caller among addresses: an IPv4 address, or the /64 of an IPv6 one, which is what one customer is given
 * (RFC 6177). IPv4 written as IPv6 is IPv4.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  const [left = "", right] = (address.split("%", 1)[0] ?? "").split("::");
  const groups = left === "" ? [] : left.split(":");
  // What "::" stands for is zeros; an IPv4 address at the end takes two groups.
  const after = right === undefined || right === "" ? 0 : right.split(":").length + (right.includes(".") ? 1 : 0);
  const rest = right === undefined ? [] : [...Array(Math.max(0, 8 - groups.length - after)).fill("0"), ...right.split(":")];
  const network = [...groups, ...rest].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}
