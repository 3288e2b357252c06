import fc from "fast-check";
import { expect, test } from "vitest";
import { Business, type BusinessStatus } from "./business.ts";

const statuses: BusinessStatus[] = ["PENDING", "ACTIVE", "DISABLED", "REJECTED"];
const allowedChanges = ["PENDING→ACTIVE", "PENDING→REJECTED", "ACTIVE→DISABLED", "DISABLED→ACTIVE"];
const createdAt = new Date(1_000);

function aBusiness(status: BusinessStatus): Business {
  return Object.assign(Object.create(Business.prototype), { name: "x", status, updatedAt: createdAt });
}

test("changeStatus of a business accepts only the four allowed status changes, in random sequences of requests", () => {
  const anyStatus = fc.constantFrom(...statuses);
  fc.assert(
    fc.property(anyStatus, fc.array(anyStatus), (initialStatus, requestedStatuses) => {
      const business = aBusiness(initialStatus);
      for (const [step, to] of requestedStatuses.entries()) {
        const { status: from, updatedAt } = business;
        const now = new Date(2_000 + step);
        if (allowedChanges.includes(`${from}→${to}`)) {
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

test("changeStatus of a business rejects a change with an error that lists the allowed next statuses, or states that there are none", () => {
  expect(() => aBusiness("REJECTED").changeStatus("ACTIVE", createdAt)).toThrow("REJECTED is final.");
  expect(() => aBusiness("PENDING").changeStatus("DISABLED", createdAt)).toThrow(
    "From PENDING it can become ACTIVE or REJECTED.",
  );
});
