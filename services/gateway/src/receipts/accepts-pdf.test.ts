import { expect, test } from "vitest";
import { acceptsPdf } from "./accepts-pdf.ts";

test.each([
  ["application/pdf", true],
  ["Application/PDF; q=0.5", true],
  ["application/pdf, text/html;q=0.9", true],
  ["application/pdf;q=0.5, text/html", false],
  ["application/pdf;q=0", false],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false],
  ["*/*", false],
  ["", false],
  [undefined, false],
])("acceptsPdf returns whether the header prefers a PDF: %j", (accept, expected) => {
  expect(acceptsPdf(accept, "text/html")).toBe(expected);
});
