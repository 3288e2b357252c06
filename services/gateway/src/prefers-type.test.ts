import { expect, test } from "vitest";
import { prefersType } from "./prefers-type.ts";

test.each([
  ["application/pdf", true],
  ["Application/PDF; q=0.5", true],
  ["application/pdf, text/html;q=0.9", true],
  ["application/pdf, text/html", true],
  ["text/html, application/pdf", false],
  ["application/pdf;q=0.5, text/html", false],
  ["application/pdf;q=0", false],
  ["application/pdf;q=high", false],
  ["application/*", true],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false],
  ["image/png", false],
  ["*/*", false],
  ["pdf", false],
  ["", false],
  [undefined, false],
])("prefersType, for PDF over HTML and the Accept header %j, returns %s", (accept, expected) => {
  expect(prefersType(accept, "application/pdf", "text/html")).toBe(expected);
});
