import { expect, test } from "vitest";
import { createAddressGuard } from "../http-client/address-guard.ts";
import { validateUrl } from "./validate-url.ts";

const names: Record<string, string[]> = {
  "public.example": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  "private.example": ["10.0.0.1"],
  "mixed.example": ["93.184.215.14", "127.0.0.1"],
  localhost: ["127.0.0.1"],
  "localhost.": ["127.0.0.1"],
};
const resolve = async (host: string) => {
  const addresses = names[host];
  if (!addresses) throw Object.assign(new Error("the name does not exist"), { code: "ENOTFOUND" });
  return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
};
const productionGuard = createAddressGuard({ allowInsecure: false, resolve });
const sandboxGuard = createAddressGuard({ allowInsecure: true, resolve });
const codeOf = async (url: string, guard = productionGuard) => (await validateUrl(url, guard, "business"))?.code;

test.each([
  "https://public.example/hook?a=1",
  "https://public.example:8443",
  "https://93.184.215.14/",
  "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
  "https://does-not-resolve.example/",
  "HTTPS://PUBLIC.example/",
])("validateUrl accepts %s", async (url) => {
  expect(await codeOf(url)).toBeUndefined();
});

test.each([
  ["url_invalid", "not a url"],
  ["url_invalid", "/hook"],
  ["url_invalid", ""],
  ["url_invalid", "https:public.example"],
  ["url_invalid", " https://public.example"],
  ["url_invalid", "https://public.example/\r\nx: y"],
  ["url_invalid", "https://public.example/\0"],
  ["url_invalid", "https:///public.example/"],
  ["url_invalid", "https:\\\\public.example/"],
  ["url_invalid", "https://public.example\\@private.example/"],
  ["url_invalid", "https://public.example/a\\b"],
  ["url_invalid", "https://"],
  ["url_invalid", "https://999.1.1.1/"],
  ["url_invalid", "javascript:alert(1)"],
  ["url_not_https", "http://public.example/"],
  ["url_not_https", "ftp://public.example/"],
  ["url_has_credentials", "https://user@public.example/"],
  ["url_has_credentials", "https://@public.example/"],
  ["url_has_credentials", "https://:password@public.example/"],
  ["url_has_fragment", "https://public.example/#part"],
  ["url_has_fragment", "https://public.example/#"],
  ["url_too_long", `https://public.example/${"a".repeat(2_048)}`],
  ["url_too_long", `https://${"a.".repeat(125)}test/`],
  ["url_too_long", `https://${"é.".repeat(60)}/`],
])("validateUrl returns %s for %j", async (code, url) => {
  expect(await codeOf(url)).toBe(code);
});

const nonPublicHosts = [
  "127.0.0.1",
  "2130706433",
  "0x7f.1",
  "0177.0.0.1",
  "127.1",
  "１２７.0.0.1",
  "0.0.0.0",
  "0",
  "10.1.2.3",
  "172.16.0.1",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "192.0.0.1",
  "198.18.0.1",
  "192.88.99.1",
  "224.0.0.1",
  "255.255.255.255",
  "[::]",
  "[::1]",
  "[::ffff:7f00:1]",
  "[::ffff:93.184.215.14]",
  "[::7f00:1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "[2001::1]",
  "[fc00::1]",
  "[fe80::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[2001:db8::1]",
  "[3fff::1]",
  "[4000::1]",
  "localhost",
  "localhost.",
  "private.example",
  "mixed.example",
];
test.each(nonPublicHosts)("validateUrl returns url_not_public for https://%s/", async (host) => {
  expect(await codeOf(`https://${host}/`)).toBe("url_not_public");
});

test.each([
  "http://127.0.0.1:3000/",
  "http://127.9.9.9/",
  "http://[::1]/",
  "http://localhost/",
  "https://127.0.0.1/",
  "http://public.example/",
])("validateUrl with `allowInsecure` accepts %s", async (url) => {
  expect(await codeOf(url, sandboxGuard)).toBeUndefined();
});

test.each(["0.0.0.0", "[::]", "10.1.2.3", "169.254.169.254", "[::ffff:7f00:1]", "private.example"])(
  "validateUrl with `allowInsecure` returns url_not_public for http://%s/",
  async (host) => {
    expect(await codeOf(`http://${host}/`, sandboxGuard)).toBe("url_not_public");
  },
);
