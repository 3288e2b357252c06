import fc from "fast-check";
import { expect, test } from "vitest";
import { Business, type BusinessStatus } from "./business.ts";

const statuses: BusinessStatus[] = ["PENDING", "ACTIVE", "DISABLED", "REJECTED"];
const allowed = ["PENDING→ACTIVE", "PENDING→REJECTED", "ACTIVE→DISABLED", "DISABLED→ACTIVE"];
const created = new Date(1_000);

function aBusiness(status: BusinessStatus): Business {
  return Object.assign(Object.create(Business.prototype), { name: "x", status, updatedAt: created });
}

test("changeStatus allows only the four status changes, and otherwise changes nothing", () => {
  const anyStatus = fc.constantFrom(...statuses);
  fc.assert(
    fc.property(anyStatus, fc.array(anyStatus), (start, requested) => {
      const business = aBusiness(start);
      for (const [step, to] of requested.entries()) {
        const { status: from, updatedAt } = business;
        const now = new Date(2_000 + step);
        if (allowed.includes(`${from}→${to}`)) {
          business.changeStatus(to, now);
          expect(business).toMatchObject({ status: to, updatedAt: now });
          continue;
        }
        if (from === to) business.changeStatus(to, now);
        else expect(() => business.changeStatus(to, now)).toThrow(`A business that is ${from} cannot become ${to}.`);
        expect(business).toMatchObject({ status: from, updatedAt });
      }
    }),
  );
});

test("changeStatus throws an error with the allowed statuses", () => {
  expect(() => aBusiness("REJECTED").changeStatus("ACTIVE", created)).toThrow("REJECTED is final.");
  expect(() => aBusiness("PENDING").changeStatus("DISABLED", created)).toThrow("From PENDING it can become ACTIVE or REJECTED.");
});
