import fc from "fast-check";
import { expect, test } from "vitest";
import { collapseWhiteSpace } from "./collapse-white-space.ts";
import { memberText } from "./member-text.ts";
import { parseJson, readJsonObject } from "./read-json.ts";

const megabyte = 1024 * 1024;

test.each([" ", "\t", "\n", "\r", " \t\n\r"])("the gateway reads a JSON body with a megabyte of the white space %j", (unit) => {
  const space = unit.repeat(megabyte / unit.length / 4);
  const text = `${space}{"a":${space}[1 , "b    \\"  c"]${space}}${space}`;
  const collapsed = collapseWhiteSpace(text);
  expect(collapsed).toBe(' {"a": [1 , "b    \\"  c"] } ');
  const bytes = Buffer.from(text);
  expect(readJsonObject(bytes)).toEqual({ a: [1, 'b    "  c'] });
  expect(memberText(bytes, "a")).toBe('[1,"b    \\"  c"]');
});

test("collapseWhiteSpace keeps whether a large text is JSON, and its value", () => {
  const space = " ".repeat(128 * 1024);
  const part = fc.constantFrom(...'{}[]:,"\\-+e.01a'.split(""), "true", '"a"', '"b":', "    ", "\n\n\n\n\n", " ", "\\\\");
  const parse = (text: string) => {
    try {
      return { value: JSON.parse(text) as unknown };
    } catch {
      return undefined;
    }
  };
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      expect(parse(collapseWhiteSpace(space + text))).toEqual(parse(text));
    }),
  );
});

test("parseJson reports an error in a text with long runs of white space without a position", () => {
  expect(() => parseJson(`{"a":${" ".repeat(megabyte)}tru}`)).toThrow("The body is not JSON.");
  expect(() => parseJson('{"a": tru}')).toThrow(/line 1, column/);
});
