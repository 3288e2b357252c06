import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Problem } from "../problem.ts";
import { parseJson, readJsonObject } from "./read-json.ts";

const read = (text: string | Buffer) => readJsonObject(Buffer.from(text as string));
const refusal = (text: string | Buffer) => {
  try {
    read(text);
  } catch (error) {
    return error as Problem;
  }
  return undefined;
};

describe("readJsonObject", () => {
  test("readJsonObject returns the same value as JSON.parse for random JSON objects", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (value) => {
        const text = JSON.stringify(value).replaceAll("\\u0000", "");
        if (/\\ud[89a-f]/i.test(text)) return;
        try {
          expect(read(text)).toEqual(JSON.parse(text));
        } catch (error) {
          // The removal of NUL above can make two keys equal.
          expect(error).toMatchObject({ code: "invalid_json" });
        }
      }),
    );
  });

  test("parseJson rejects only texts that JSON.parse rejects and texts that repeat a key", () => {
    const part = fc.constantFrom(
      ...'{}[]:,"\\/ \t\n\r.-+eE0123ua'.split(""),
      "true",
      "false",
      "null",
      '"a"',
      '"b":',
      "\\u0041",
      "\v",
      "\u00a0",
    );
    const parsed = (text: string) => {
      try {
        return { value: JSON.parse(text) };
      } catch {
        return undefined;
      }
    };
    const readText = (text: string) => {
      try {
        return { value: parseJson(text) };
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return error.message.includes("repeated") ? "repeated" : undefined;
      }
    };
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 12 }),
        fc.constantFrom(["", ""], ["[", "]"], ['{"a":', "}"]),
        (parts, [start, end]) => {
          const text = `${start}${parts.join("")}${end}`;
          const result = readText(text);
          if (result !== "repeated") expect(result).toEqual(parsed(text));
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test("readJsonObject accepts a BOM at the beginning", () => {
    expect(read("\ufeff{}")).toEqual({});
  });

  test("readJsonObject returns undefined for an empty body", () => {
    expect(read("")).toBeUndefined();
  });

  test.each([
    "{",
    "[]",
    "null",
    '"a"',
    "7",
    "{a:1}",
    "{'a':1}",
    '{"a":1,}',
    '{"a":NaN}',
    '{"a":01}',
    '{"a":"\u0000"}',
    '{"a":"\n"}',
    '{"a":1}{}',
    '{"a":1} x',
    "// {}",
    " ",
    '{"a',
    '{"\\u12":1}',
    "\ufeff\ufeff{}",
    "{} // comment",
    '{/* comment */"a":1}',
    '{"a":1,,"b":2}',
    '{,"a":1}',
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{"a":[1 2]}',
    '{"a" 1}',
    '{"a":}',
    '{"a":1 "b":2}',
    '{"a":+1}',
    '{"a":-}',
    '{"a":-01}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":1.e5}',
    '{"a":1e}',
    '{"a":0x10}',
    '{"a":1n}',
    '{"a":Infinity}',
    '{"a":undefined}',
    '{"a":True}',
    '{"a":"\\x41"}',
    '{"a":"\\u12G4"}',
    '{"a":"\\',
    '{"a":"\t"}',
    '{"a":"\u0001"}',
    '{"a":\u00a01}',
    '{"a":\u20281}',
    '{\u000b"a":1}',
    '{"a":1]',
    '{"a":[1}',
    "{}}",
  ])("readJsonObject throws invalid_json for %j", (text) => {
    expect(refusal(text)).toMatchObject({ status: 400, code: "invalid_json" });
  });

  test.each([Buffer.from([0x7b, 0xff, 0x7d]), Buffer.from('{"a":"é"}', "latin1"), Buffer.from('{"a":1}', "utf16le")])(
    "readJsonObject throws invalid_json for a body that is not UTF-8",
    (bytes) => {
      expect(refusal(bytes)).toMatchObject({ status: 400, code: "invalid_json" });
    },
  );

  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '{"x":{"a":1,"b":2,"a":3}}',
    '{"x":[{"a":1,"a":2}]}',
    '{"__proto__":1,"__proto__":2}',
    '{"a":1 , "a" \n:2}',
  ])("readJsonObject rejects a repeated key: %s", (text) => {
    expect(refusal(text)?.message).toMatch(/repeated/);
  });

  test("readJsonObject accepts the same key in different objects, and a value that looks like a key", () => {
    expect(read('{"a":{"a":"a"},"b":[{"a":1},{"a":2}],"c":"\\"a\\":1"}')).toMatchObject({ a: { a: "a" } });
  });

  test("readJsonObject reads __proto__ as an own property", () => {
    const body = read('{"__proto__":{"x":1}}');
    expect(Object.keys(body ?? {})).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
  });

  test("readJsonObject accepts 32 levels of nesting and rejects 33", () => {
    const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(read(nested(32))).toBeDefined();
    expect(refusal(nested(33))).toMatchObject({ code: "invalid_json", message: expect.stringMatching(/32/) });
    for (const levels of [20_000, 500_000]) expect(refusal(nested(levels))?.message).toMatch(/32/);
    expect(refusal("[".repeat(1_000_000))?.message).toMatch(/32/);
    expect(refusal('{"a":'.repeat(100_000))?.message).toMatch(/32/);
  });

  test("readJsonObject accepts 10 000 values of any kind and rejects 10 001", () => {
    for (const value of ["0", '""', "null", "[]", "{}", '{"a":0}']) {
      const values = value.includes("a") ? 5_000 : 10_000;
      const list = (length: number) => `{"a":[${Array(length).fill(value).join()}]}`;
      // The object and the array count as two values.
      expect(read(list(values - 2))).toBeDefined();
      expect(refusal(list(values))).toMatchObject({ code: "invalid_json", message: expect.stringMatching(/10000 values/) });
    }
    const members = (length: number) => `{${Array.from({ length }, (_, i) => `"${i}":0`).join()}}`;
    expect(read(members(9_999))).toBeDefined();
    expect(refusal(members(10_000))?.message).toMatch(/10000 values, at line 1/);
  });

  test("readJsonObject rejects strings with NUL or lone surrogates, and reports the pointer of each string", () => {
    const problem = refusal('{"a":"\\u0000","b":{"c/d":["x","\\ud800"]},"e":"\\ud83d\\ude00"}');
    expect(problem).toMatchObject({ status: 422, code: "validation_failed" });
    expect(problem?.errors).toEqual([
      expect.objectContaining({ pointer: "/a", code: "invalid_text" }),
      expect.objectContaining({ pointer: "/b/c~1d/1", code: "invalid_text" }),
    ]);
    expect(refusal('{"\\udc00":1}')).toMatchObject({ status: 422 });
  });
});

test.each([
  ['{"a":tru}', 1, 6],
  ['{"a":NaN}', 1, 6],
  ['{"name": "NaN, tru", "b": .5}', 1, 27],
  ['{"a\\"x": "y",\n  "b": yes}', 2, 8],
  ['{\r\n\t"a": 1,\r\n}', 3, 1],
  ["{", 1, 2],
  ['{"a": "b"', 1, 10],
  ["nul", 1, 1],
  ['{"a":1}\n{}', 2, 1],
  ['{"é": 1,\n"é": 2}', 2, 1],
])("readJsonObject reports the syntax error of %j at line %i, column %i", (text, line, column) => {
  expect(refusal(text)?.message).toMatch(new RegExp(`, at line ${line}, column ${column}\\.$`));
});

test("readJsonObject reports the position at which the 33rd level of nesting begins", () => {
  expect(refusal(`{"a":${"[".repeat(40)}`)?.message).toMatch(/deeper than 32 levels, at line 1, column 37\./);
});

test("the error message of readJsonObject for invalid JSON contains no part of the body", () => {
  for (const text of ['{"pan": 6280581110007215x}', '{"pan": "6280581110007215', "6280581110007215 6280581110007215"]) {
    expect(refusal(text)?.message).not.toContain("628058");
  }
});

test("readJsonObject reports the position of the first error in a megabyte of invalid JSON", () => {
  expect(refusal(`{"a":${"tru,".repeat(250_000)}`)?.message).toContain("line 1, column 6");
  expect(refusal(`{"a":"${'x\\\\"'.repeat(250_000)}`)?.message).toContain("line 1");
});

/** A text that counts each read of a code unit. */
class CountedText {
  reads = 0;
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  get length() {
    return this.#text.length;
  }
  charCodeAt(at: number) {
    this.reads++;
    return this.#text.charCodeAt(at);
  }
  substring(from: number, to: number) {
    this.reads += to - from;
    return this.#text.substring(from, to);
  }
  /** Counts the whole text as read. JSON.parse calls this method. */
  toString() {
    return this.substring(0, this.length);
  }
}

const readsOf = (text: string): number => {
  const countedText = new CountedText(text);
  try {
    parseJson(countedText as unknown as string);
  } catch (error) {
    expect(error).toMatchObject({ name: "Problem" });
  }
  return countedText.reads;
};

/**
 * Returns a text of at least `length` code units: `start`, repetitions of `part`, and `end`.
 */
const repeatToLength = (length: number, [start, part, end]: readonly [string, string, string]) =>
  start + part.repeat(Math.ceil((length - start.length - end.length) / part.length)) + end;

const ends = ["", "}", '"', "x", "\\"];
const parts = [
  '\\"',
  '"',
  "\\",
  "tru,",
  "[",
  "{",
  '{"a":',
  "]",
  ",",
  ":",
  "-",
  "0",
  "1",
  ".",
  "e",
  "/",
  "/*",
  "*/",
  "//",
  "'",
  " ",
  "\n",
  "\r\n",
  "\t",
  "\\u00",
  "\\u0041",
  "a",
  "é",
  "\u2028",
  '"a":1,',
  '"",',
  "null,",
  "1e5,",
  "[],",
];
const malformedShapes = ['{"a":tru,"', '{"a":"', "{", '{"a":[', "", '{"a":1'].flatMap((start) =>
  parts.flatMap((part) => ends.map((end) => [start, part, end] as const)),
);

test("parseJson reads each character of malformed text at most eight times on average", () => {
  expect(malformedShapes.length).toBeGreaterThan(1_000);
  for (const shape of malformedShapes) {
    for (const length of [1_000, 2_000, 4_000]) {
      const text = repeatToLength(length, shape);
      expect.soft(readsOf(text) / text.length, JSON.stringify([length, ...shape])).toBeLessThanOrEqual(8);
    }
  }
});
