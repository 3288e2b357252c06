import { expect, test } from "vitest";
import { HandshakeCosts } from "./guarded-connector.ts";

test("a slot for connecting stays occupied for 100 times the CPU time of its handshake above 5 ms", () => {
  const costs = new HandshakeCosts();
  costs.add("usual.example", 5);
  costs.add("costly.example", 15);
  costs.add("costly.example", 10);
  expect(costs.takeHoldMs("usual.example")).toBe(0);
  expect(costs.takeHoldMs("costly.example")).toBe(2_000);
  expect(costs.takeHoldMs("costly.example")).toBe(0);
});
