import { expect, test } from "vitest";
import { readRetryAfterMs } from "./retry-after.ts";

const nowMs = Date.parse("2026-11-20T10:00:00Z");

test.each<[string | undefined, number | undefined]>([
  ["120", 120_000],
  ["Fri, 20 Nov 2026 10:05:00 GMT", 300_000],
  ["Fri, 20 Nov 2026 09:00:00 GMT", 0],
  ...[undefined, "", "soon", "-5", "1.5", "2026-11-21", "9".repeat(400)].map((header): [string | undefined, undefined] => [
    header,
    undefined,
  ]),
])("readRetryAfterMs, called with the header %j, returns %j", (header, pauseMs) => {
  expect(readRetryAfterMs(header, nowMs)).toBe(pauseMs);
});
