import { expect, test } from "vitest";
import { measureRefundLatency } from "../src/refund-latency/refund-latency.ts";

test("the benchmark `refund-latency` reports fewer connections to the processor than refunds", async () => {
  const result = await measureRefundLatency({ quick: true });
  expect(result.refunds).toBe(10);
  // On a busy machine, more than a second may pass between two refund requests. The second request
  // then opens a new connection.
  expect(result["TCP connections"]).toBeLessThan(10);
  expect(result["TLS handshakes"]).toBe(result["TCP connections"]);
});
