import { expect, test } from "vitest";
import { requestedName } from "./index.ts";

const Colour = { UNSPECIFIED: 0, RED: 1 } as const;

test("requestedName returns the name of a supported enum value, and undefined for UNSPECIFIED", () => {
  expect([requestedName(Colour, 1), requestedName(Colour, 0)]).toEqual(["RED", undefined]);
});

test("requestedName throws service_unavailable for an unknown enum value", () => {
  expect(() => requestedName(Colour, 2)).toThrow(expect.objectContaining({ code: "service_unavailable" }));
});
