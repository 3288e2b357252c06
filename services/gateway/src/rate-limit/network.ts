import { isIP, isIPv6 } from "node:net";

/**
 * What counts as one caller among addresses: an IPv4 address, or the /64 of an IPv6 one, which is
 * what one customer is given (RFC 6177). IPv4 written as IPv6 is IPv4. What is no address, as a
 * proxy may pass on, is one caller too: else whoever writes it has a new limit with each text.
 */
export function networkOf(address: string): string {
  if (isIP(address) === 0) return "no address";
  if (!isIPv6(address)) return address;
  // As URLs write it (RFC 5952): IPv4 within is two groups, and leading zeros are gone.
  const written = new URL(`http://[${address.split("%", 1)[0]}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(written) ?? [];
  if (high !== undefined && low !== undefined) {
    const bits = Number.parseInt(high, 16) * 2 ** 16 + Number.parseInt(low, 16);
    return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join(".");
  }
  const [left = "", right] = written.split("::");
  const groups = left === "" ? [] : left.split(":");
  const after = right === undefined || right === "" ? [] : right.split(":");
  // What "::" stands for is zeros.
  const all = [...groups, ...Array(Math.max(0, 8 - groups.length - after.length)).fill("0"), ...after];
  return `${all.slice(0, 4).join(":")}::/64`;
}
