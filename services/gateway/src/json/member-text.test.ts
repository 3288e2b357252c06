import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memberText } from "./member-text.ts";

const textOf = (json: string, name = "metadata") => memberText(Buffer.from(json), name);

describe("memberText", () => {
  test.each([
    [
      '{"metadata":@}',
      '{"z":1,"a":{"n":12345678901234567890,"f":1.10,"e":1E+2},"t":"\\u00e9 \\ud83d\\ude00","k":[null,true,"\\/"]}',
    ],
    ['{"locale":"fr","metadata":@,"x":{"metadata":{"not":"this"}}}', '{"10":1,"9":2,"a":-0.0}'],
    ['{"x":{"metadata":[1]},"metadata":@}', "{}"],
    ['{"x":"metadata","y":["metadata",{"metadata":1}],"metadata":@}', '{"a":"}{,:\\"\\\\"}'],
  ])(
    "memberText returns the value of `metadata` unchanged from the JSON text %s, in which @ is the place of the value %s",
    (body, metadata) => {
      expect(textOf(body.replace("@", () => metadata))).toBe(metadata);
    },
  );

  test("memberText removes only the white space between tokens", () => {
    expect(textOf('\ufeff{ "a" : 1 ,\n "metadata" :\t{ "b" : [ 1 , 2.50 ] , "c d" : " e  f " } , "z" : { } }')).toBe(
      '{"b":[1,2.50],"c d":" e  f "}',
    );
  });

  test("memberText returns the text of a member whose key contains escapes", () => {
    expect(textOf('{"meta\\u0064ata":{"a":1}}')).toBe('{"a":1}');
  });

  test("memberText returns undefined if the object has no member with the given key", () => {
    for (const json of ["{}", '{"a":{"metadata":1}}', '{"a":"metadata"}', '{"a":["metadata"]}']) {
      expect(textOf(json)).toBeUndefined();
    }
  });

  test("memberText returns, for any object, a text that JSON.parse converts to the member's value", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), fc.nat(4), (otherMembers, value, spaces) => {
        const json = JSON.stringify({ ...otherMembers, metadata: value, end: [1] }, null, spaces);
        expect(JSON.parse(textOf(json) ?? "")).toEqual(JSON.parse(JSON.stringify(value)));
        expect(textOf(json)).toBe(JSON.stringify(value));
      }),
    );
  });
});
