import { expect, test } from "vitest";
import { HandshakeCosts } from "./guarded-connector.ts";

test("HandshakeCosts occupies a slot for 100 times the CPU time of a handshake above 5 ms", () => {
  const costs = new HandshakeCosts();
  const usualMeters = [costs.meter("shop.example"), costs.meter("shop.example")];
  for (const add of usualMeters) add(5);
  expect(costs.takeHoldMs("shop.example")).toBe(0);
  const add = costs.meter("costly.example");
  for (const cpuMs of [3, 12, 10]) add(cpuMs);
  expect(costs.takeHoldMs("shop.example")).toBe(0);
  expect(costs.takeHoldMs("costly.example")).toBe(2_000);
  expect(costs.takeHoldMs("costly.example")).toBe(0);
});
