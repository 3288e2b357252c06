import { afterEach, expect, test } from "vitest";
import { localTime } from "./print.ts";

const { TZ: timeZone } = process.env;
afterEach(() => {
  if (timeZone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = timeZone;
});

test.each([
  ["", "2026-11-20 08:00:00 +00:00"],
  ["Africa/Algiers", "2026-11-20 09:00:00 +01:00"],
  ["America/St_Johns", "2026-11-20 04:30:00 -03:30"],
])("localTime formats a time if the variable TZ is %j", (name, expected) => {
  process.env["TZ"] = name;
  expect(localTime("2026-11-20T08:00:00.000Z")).toBe(expected);
});
