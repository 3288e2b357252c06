import { expect, test, vi } from "vitest";
import { compileField } from "./field.ts";
import { webUrl } from "./web-url.ts";

const checkHttpsUrl = compileField(webUrl(false, "", ""));
const checkInsecureUrl = compileField(webUrl(true, "", ""));

test.each([
  "https://shop.example",
  "https://shop.example/",
  "https://shop.example?order=1",
  "https://shop.example#done",
  "https://shop.example:8443/paid?order=1&x=a%20b#done",
  "https://shop.example:443/",
  "HTTPS://Shop.Example/Paid",
  "https://shop.example./",
  "https://shop.example/?",
  "https://shop.example/?name=O'Brien",
  "https://93.184.215.14/",
  "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
  "https://boutique-épicerie.example/payé?réf=1",
  "https://متجر.example/شكرا?طلب=٥#تم",
  "https://xn--bcher-kva.example/",
])("webUrl accepts %s unchanged", (url) => {
  expect(checkHttpsUrl(url)).toEqual({ value: url });
});

test.each([
  "https:///shop.example",
  "https:shop.example",
  "https:/shop.example",
  "https:\\\\shop.example/",
  "https://shop.example\\@evil.example/",
  "https://shop.example/a\\b",
  "https://shop.example/a\tb",
  "https://sh\nop.example/",
  "https://shop.example/\u00a0",
  " https://shop.example/",
  "https://",
  "https://999.1.1.1/",
  "https://shop.example:99999/",
  "//shop.example/",
  "http://shop.example/",
  `https://shop.example/${"a".repeat(2_048)}`,
])("webUrl rejects %j", (url) => {
  expect(checkHttpsUrl(url)).toEqual({ message: "must be an absolute https URL of at most 2048 characters" });
});

test.each([
  ["https://127.1/", "https://127.0.0.1/"],
  ["https://2130706433/", "https://127.0.0.1/"],
  ["https://0x7f.0.0.1/", "https://127.0.0.1/"],
  ["https://１２７.0.0.1/", "https://127.0.0.1/"],
  ["https://shop。example/", "https://shop.example/"],
  ["https://sh%6fp.example/", "https://shop.example/"],
  ["https://[0:0::1]/", "https://[::1]/"],
  ["https://shop.example/a/../b", "https://shop.example/b"],
  ['https://shop.example/"', "https://shop.example/%22"],
])("webUrl rejects %s and reports the form of this URL that browsers use", (url, href) => {
  expect(checkHttpsUrl(url)).toEqual({ message: `must have the form that browsers use: ${href}` });
});

const hostOf253 = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(58)}.dz`;

test("webUrl accepts a host name of 253 characters", () => {
  expect(hostOf253).toHaveLength(253);
  const url = `https://${hostOf253}:8443/`;
  expect(checkHttpsUrl(url)).toEqual({ value: url });
});

test.each([
  ["254 characters", `a${hostOf253}`],
  ["more than 253 characters in punycode", "é.".repeat(60)],
])("webUrl rejects a host name of %s", (_name, host) => {
  expect(checkHttpsUrl(`https://${host}/`)).toEqual({ message: "must have a host name of at most 253 characters" });
});

test("webUrl does not parse a URL with a very long host name, because the parser would need much time", () => {
  using parse = vi.spyOn(URL, "parse");
  const host = Array.from({ length: 2_000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join("");
  expect(checkHttpsUrl(`https://${host}.dz/`)).toEqual({ message: "must have a host name of at most 253 characters" });
  expect(parse).not.toHaveBeenCalled();
});

test("webUrl rejects a URL that is too long after percent-encoding", () => {
  expect(checkHttpsUrl(`https://shop.example/${"é".repeat(1_000)}`)).toEqual({
    message: "must have at most 2048 characters after percent-encoding",
  });
});

test.each(["https://a:b@shop.example/", "https://@shop.example/"])(
  "webUrl rejects %s, because it contains credentials",
  (url) => {
    expect(checkHttpsUrl(url)).toEqual({ message: "must not contain a user name or password" });
  },
);

test("webUrl with `insecure: true` accepts http only on loopback", () => {
  for (const url of ["http://127.0.0.1:3000/", "http://localhost/", "http://[::1]/", "https://shop.example/"]) {
    expect(checkInsecureUrl(url)).toEqual({ value: url });
  }
  for (const url of ["http://shop.example/", "http://0.0.0.0/", "shop"]) {
    expect(checkInsecureUrl(url)).toEqual({
      message: "must be an absolute https URL of at most 2048 characters; http is accepted only on loopback",
    });
  }
});
