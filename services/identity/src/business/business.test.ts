import fc from "fast-check";
import { expect, test } from "vitest";
import { Business, type BusinessStatus } from "./business.ts";

const statuses: BusinessStatus[] = ["PENDING", "ACTIVE", "DISABLED", "REJECTED"];
const allowed = ["PENDING→ACTIVE", "PENDING→REJECTED", "ACTIVE→DISABLED", "DISABLED→ACTIVE"];
const created = new Date(1_000);

function aBusiness(status: BusinessStatus): Business {
  return Object.assign(Object.create(Business.prototype), { name: "x", status, updatedAt: created });
}

test("whatever is asked for, only the four moves happen, and nothing else touches the business", () => {
  const anyStatus = fc.constantFrom(...statuses);
  fc.assert(
    fc.property(anyStatus, fc.array(anyStatus), (start, asked) => {
      const business = aBusiness(start);
      for (const [step, to] of asked.entries()) {
        const { status: from, updatedAt } = business;
        const now = new Date(2_000 + step);
        if (allowed.includes(`${from}→${to}`)) {
          business.moveTo(to, now);
          expect(business).toMatchObject({ status: to, updatedAt: now });
          continue;
        }
        if (from === to) business.moveTo(to, now);
        else expect(() => business.moveTo(to, now)).toThrow(`A business that is ${from} cannot become ${to}.`);
        expect(business).toMatchObject({ status: from, updatedAt });
      }
    }),
  );
});

test("the refusal says what is possible", () => {
  expect(() => aBusiness("REJECTED").moveTo("ACTIVE", created)).toThrow("REJECTED is final.");
  expect(() => aBusiness("PENDING").moveTo("DISABLED", created)).toThrow("From PENDING it can become ACTIVE or REJECTED.");
});
