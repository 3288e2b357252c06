import { expect, test } from "vitest";
import { isAdult } from "./adult.ts";

test.each([
  ["2026-11-21", "2008-11-21", true],
  ["2026-11-21", "2008-11-22", false],
  ["2026-12-31", "2008-12-31", true],
  ["2027-01-01", "2009-01-02", false],
  ["2026-02-28", "2008-02-29", false],
  ["2026-03-01", "2008-02-29", true],
  ["2028-02-29", "2010-02-28", true],
  ["2028-02-29", "2010-03-01", false],
  ["2026-11-21", "1900-01-01", true],
  ["2026-11-21", "2027-01-01", false],
])(
  "isAdult on the UTC day %s for the birth date %s returns %s at every time of the day",
  (today, dateOfBirth, isExpectedAdult) => {
    for (const time of ["00:00:00.000Z", "12:00:00.000+12:00", "23:59:59.999Z"]) {
      const now = new Date(`${today}T${time}`);
      expect(isAdult(dateOfBirth, now)).toBe(isExpectedAdult);
    }
  },
);
