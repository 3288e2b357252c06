import { describe, expect, test } from "vitest";
import { readRetryAfter } from "./http-calls.ts";

describe("readRetryAfter", () => {
  const nowMs = Date.parse("2026-05-01T10:00:00Z");

  test.each([
    ["7", 7],
    ["Fri, 01 May 2026 10:00:07 GMT", 7],
    ["Fri, 01 May 2026 09:00:00 GMT", 0],
    ["", undefined],
    ["-1", undefined],
    ["soon", undefined],
    ["2026-05-01", undefined],
  ])("readRetryAfter converts the header '%s' to %s seconds", (value, seconds) => {
    expect(readRetryAfter(value, nowMs)).toBe(seconds);
  });
});
