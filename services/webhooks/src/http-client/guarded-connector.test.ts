import { expect, test } from "vitest";
import { HandshakeCosts } from "./guarded-connector.ts";

test("HandshakeCosts returns 100 times the CPU time of the handshakes above 5 ms, once for each host", () => {
  const costs = new HandshakeCosts();
  costs.add("usual.example", 5);
  costs.add("costly.example", 15);
  costs.add("costly.example", 10);
  expect(costs.takeHoldMs("usual.example")).toBe(0);
  expect(costs.takeHoldMs("costly.example")).toBe(2_000);
  expect(costs.takeHoldMs("costly.example")).toBe(0);
});
