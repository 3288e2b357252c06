import { startTestSystem, type TestSystem } from "@amana/e2e/test-system";
import { afterAll, beforeAll, expect, test } from "vitest";
import { measureReads } from "../src/reads/reads.ts";
import { measureRefundLatency } from "../src/refund-latency/refund-latency.ts";
import { measureWebhooks } from "../src/webhooks/webhooks.ts";

let running: TestSystem;
beforeAll(async () => {
  const quiet = { LOG_LEVEL: "warn" };
  running = await startTestSystem("direct", { gateway: quiet, payments: quiet, webhooks: { RETRY_SCHEDULE_SECONDS: "30" } });
});
afterAll(() => running?.[Symbol.asyncDispose]());

test("the benchmark `reads` measures the gateway and two bare servers, which return the same body", async () => {
  const rows = await measureReads({ rounds: 1, seconds: 1 }, running.system);
  expect(rows.map(({ server }) => server)).toEqual(["bare-fastify-pg", "bare-fastify-mikroorm", "amana gateway"]);
});

test("the benchmark `refund-latency` reports fewer connections to the processor than refunds", async () => {
  const { payments } = running.system.services;
  try {
    const result = await measureRefundLatency({ quick: true }, running.system);
    expect(result.refunds).toBe(10);
    // On a busy machine, more than a second may pass between two refund requests. The second request
    // then opens a new connection.
    expect(result["TCP connections"]).toBeLessThan(10);
    expect(result["TLS handshakes"]).toBe(result["TCP connections"]);
  } finally {
    // The benchmark's processor has stopped, so payments must use the system's processor again.
    await payments.stop();
    await payments.start();
    await running.system.waitUntilReady();
  }
});

// This test runs last, because it stops the services that it does not use, and does not start them
// again.
test("the benchmark `webhooks` delivers every event once and returns tables without empty cells", async () => {
  const names = ["rates", "many-hanging"];
  const options = { names, events: "direct", seconds: 1, quick: true, rows: 500, held: 2 } as const;
  const result = await measureWebhooks(options, running.system);
  for (const row of result.delays) expect(row).toMatchObject({ lost: 0, duplicated: 0 });
  expect(result.delays.length).toBeGreaterThan(0);
  for (const table of [result.bares, result.delays, result.costs, result.figures]) {
    for (const row of table) for (const value of Object.values(row)) expect(String(value)).not.toMatch(/^$|NaN|undefined/);
  }
});
