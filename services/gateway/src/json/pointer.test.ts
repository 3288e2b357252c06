import { describe, expect, test } from "vitest";
import { pointerOf, shorten } from "./pointer.ts";

describe("pointerOf", () => {
  test("pointerOf escapes ~ and / in a key (RFC 6901)", () => {
    expect(pointerOf(["a/b~c", 1])).toBe("/a~1b~0c/1");
  });

  test("pointerOf cuts a pointer after 512 characters", () => {
    const pointer = pointerOf(Array(32).fill("~".repeat(1_000)));
    expect([pointer.length, pointer.endsWith("…")]).toEqual([513, true]);
  });
});

test("shorten keeps 256 characters and replaces half of a split surrogate pair with U+FFFD", () => {
  expect(shorten("a".repeat(256))).toBe("a".repeat(256));
  expect(shorten(`${"a".repeat(255)}😀`)).toBe(`${"a".repeat(255)}\ufffd…`);
});
