import { afterEach, expect, test, vi } from "vitest";
import { parseQuery } from "./query.ts";

afterEach(() => vi.restoreAllMocks());

test("parseQuery decodes percent-encoded UTF-8 and plus signs, and replaces each undecodable name or value with a lone surrogate", () => {
  expect({ ...parseQuery("name=Caf%C3%A9+%2B&%20a=1&b=%ff&c=%&%zz=d&e=100") }).toEqual({
    name: "Café +",
    " a": "1",
    b: "\ud800",
    c: "\ud800",
    "\ud800": "d",
    e: "100",
  });
});

test("parseQuery tries to decode at most 10 undecodable names and values of a query", () => {
  const decode = vi.spyOn(globalThis, "decodeURIComponent");
  const query = parseQuery(`first=%41&${Array.from({ length: 100 }, (_, i) => `${i}%=%ff`).join("&")}&encoded=%41&plain=A`);
  const failures = decode.mock.results.filter(({ type }) => type === "throw");
  expect(failures).toHaveLength(10);
  expect(query).toMatchObject({ first: "A", "\ud800": Array(100).fill("\ud800"), encoded: "\ud800", plain: "A" });
});
