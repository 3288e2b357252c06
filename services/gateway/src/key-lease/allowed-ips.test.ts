import { expect, test } from "vitest";
import { canonicalCidr, createAddressFilter } from "./allowed-ips.ts";

test.each([
  ["203.0.113.0/24", "203.0.113.0/24"],
  ["203.0.113.7/24", "203.0.113.0/24"],
  ["203.0.113.7", "203.0.113.7/32"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["2001:db8::/32", "2001:db8::/32"],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1/128"],
  ["2001:db8:1:2:3::/33", "2001:db8::/33"],
  ["::/0", "::/0"],
  ["::ffff:203.0.113.7/120", "203.0.113.0/24"],
  ["::ffff:cb00:7107", "203.0.113.7/32"],
])("canonicalCidr converts %s to %s", (text, canonical) => {
  expect(canonicalCidr(text)).toBe(canonical);
  expect(canonicalCidr(canonical)).toBe(canonical);
});

test.each([
  "",
  "/24",
  "203.0.113.0/",
  "203.0.113.0/33",
  "203.0.113.0/-1",
  "203.0.113.0/024",
  "203.0.113.0/ 24",
  "203.0.113.0/24/24",
  "203.0.113.0/255.255.255.0",
  "203.0.113/24",
  "203.0.113.010/24",
  "0x7f.0.0.1",
  "2130706433",
  "2001:db8::/129",
  "2001:db8::1::/64",
  "fe80::1%eth0/64",
  "::ffff:0:0/90",
  "shop.example",
  "*",
])("canonicalCidr returns undefined for %j, which is not a network", (text) => {
  expect(canonicalCidr(text)).toBeUndefined();
});

test.each([
  ["203.0.113.255", true],
  ["203.0.114.0", false],
  ["::ffff:203.0.113.7", true],
  ["::ffff:cb00:7107", true],
  ["::ffff:203.0.114.7", false],
  ["2001:db8:ffff::1", true],
  ["2001:0DB8::1", true],
  ["2001:db9::1", false],
  ["2001:db8::1%eth0", true],
  ["203.0.113.7:443", false],
  ["unknown", false],
  ["", false],
])(
  "the filter of createAddressFilter for 203.0.113.0/24 and 2001:db8::/32, called with the address %j, returns %s",
  (address, isContained) => {
    expect(createAddressFilter(["203.0.113.0/24", "2001:db8::/32"])(address)).toBe(isContained);
  },
);

test("the filter of createAddressFilter for ::/0 returns false for IPv4 addresses, and the filter for 0.0.0.0/0 returns false for IPv6 addresses", () => {
  expect(createAddressFilter(["::/0"])("203.0.113.7")).toBe(false);
  expect(createAddressFilter(["::/0"])("::ffff:203.0.113.7")).toBe(false);
  expect(createAddressFilter(["0.0.0.0/0"])("2001:db8::1")).toBe(false);
});

test("the filter of createAddressFilter for an empty list or an invalid network returns false", () => {
  for (const networks of [[], ["nonsense"]]) expect(createAddressFilter(networks)("203.0.113.7")).toBe(false);
});
