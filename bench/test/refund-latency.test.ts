import { expect, test } from "vitest";
import { measureRefundLatency } from "../src/refund-latency/refund-latency.ts";

test("the benchmark `refund-latency` reports one connection to the processor for ten refunds, and 2.2 round trips per refund", async () => {
  const result = await measureRefundLatency({ quick: true });
  expect(result).toMatchObject({ refunds: 10, "TCP connections": 1, "TLS handshakes": 1, "round trips/refund": 2.2 });
});
