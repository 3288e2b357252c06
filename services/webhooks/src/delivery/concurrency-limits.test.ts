import { describe, expect, test } from "vitest";
import { ConcurrencyLimits } from "./concurrency-limits.ts";

function openLimits(limits: ConstructorParameters<typeof ConcurrencyLimits>[0]) {
  const concurrencyLimits = new ConcurrencyLimits(limits);
  concurrencyLimits.isWorkerRunning = true;
  return concurrencyLimits;
}

describe("ConcurrencyLimits", () => {
  test("capacityForNew numbers the new events of each business from 1, and allows an endpoint at most two leases per slot", () => {
    const limits = openLimits({ total: 16, perBusiness: 8, perEndpoint: 4 });
    limits.healthy.acquire("a", 60_000, "e");
    expect(limits.capacityForNew(["a", "b", "a"])).toEqual({
      ordinals: [1, 1, 2],
      endpoints: [{ id: "e", free: 7 }],
      perEndpoint: 8,
    });
  });

  test("capacityForNew allows no lease for a business that already has two leases per slot", () => {
    const limits = openLimits({ total: 16, perBusiness: 2, perEndpoint: 2 });
    for (let i = 0; i < 4; i++) limits.healthy.acquire("a", 10, `e${i}`);
    expect(limits.capacityForNew(["a", "b"]).ordinals).toEqual([undefined, 1]);
  });

  test("capacityForNew allows no lease if the process already has two leases per slot or runs no delivery worker", () => {
    const limits = openLimits({ total: 1, perBusiness: 1, perEndpoint: 1 });
    for (const business of ["a", "b"]) limits.healthy.acquire(business, 10, "e");
    expect(limits.capacityForNew(["c"]).ordinals).toEqual([undefined]);
    expect(new ConcurrencyLimits({ total: 1, perBusiness: 1, perEndpoint: 1 }).capacityForNew(["c"]).ordinals).toEqual([
      undefined,
    ]);
  });

  test("ConcurrencyLimits gives all slow endpoints together an eighth of the slots, those of a business eight slots, and each slow endpoint two slots", () => {
    const { slow } = openLimits({ total: 1024, perBusiness: 256, perEndpoint: 32 });
    expect(slow.limits).toEqual({ slots: 128, perTenant: 8, perKey: 2 });
  });
});
