import fc from "fast-check";
import { expect, test } from "vitest";
import { parseEmailAddress } from "./email-address.ts";

test.each([
  ["nom@exemple.dz", "nom@exemple.dz"],
  [" First.Last+tag@Sub.Example.COM ", "First.Last+tag@sub.example.com"],
  ["o'neil@example.com", "o'neil@example.com"],
  ["a@xn--mgbaam7a8h.com", "a@xn--mgbaam7a8h.com"],
])("parseEmailAddress accepts %j", (text, expected) => {
  expect(parseEmailAddress(text)).toBe(expected);
});

test.each([
  "",
  "@example.com",
  "name@",
  "name@localhost",
  "name@example.com, other@example.com",
  "a@b@example.com",
  "name@example.com\r\nBcc: victim@example.com",
  "name@example.com\0",
  "name\n@example.com",
  '"quoted"@example.com',
  "<name@example.com>",
  "name@[127.0.0.1]",
  "name@127.0.0.1",
  ".name@example.com",
  "na..me@example.com",
  "name@-example.com",
  "name@example.com.",
  "اسم@example.com",
  `${"a".repeat(65)}@example.com`,
  `a@${"b.".repeat(130)}com`,
])("parseEmailAddress rejects %j", (text) => {
  expect(parseEmailAddress(text)).toBeUndefined();
});

test("parseEmailAddress rejects every text that contains a character with a meaning in e-mail headers", () => {
  const parts = fc.constantFrom("a", "b.c", "@", "\r", "\n", ",", ";", "<", ">", '"', ":", " ", "(", ")", "\\", ".com");
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 12 }), (chosen) => {
      const address = parseEmailAddress(chosen.join(""));
      expect(address ?? "").not.toMatch(/[\s,;<>"():\\]/);
    }),
    { numRuns: 2_000 },
  );
});
