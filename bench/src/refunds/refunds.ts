import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type System, startSystem } from "@amana/dev-env";
import { apiCaller } from "@amana/dev-env/demo/api";
import { startReceiver } from "@amana/dev-env/demo/receiver";
import { createProgress } from "@amana/dev-env/progress";
import { aPaidPayment } from "../a-paid-payment.ts";
import { median, printTable, say } from "../table.ts";

const perRound = 20;

/**
 * How long after a refund's 200 its webhook arrives, one refund at a time, with direct events and with a local Kafka. The
 * webhook may come first: the event is on its way before the answer is.
 */
export async function refunds({ rounds }: { rounds: number; seconds: number }) {
  const rows: Record<string, string | number>[] = [];
  for (const events of ["direct", "kafka"] as const) {
    const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
    try {
      await using system = await startSystem({
        dir,
        events,
        progress: createProgress(),
        env: { gateway: { RATE_LIMIT_REFUND_PER_SECOND: "0" } },
      });
      rows.push({ events, ...(await measure(system, rounds)) });
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }
  printTable(rows);
  return rows;
}

async function measure(system: System, rounds: number) {
  await using receiver = await startReceiver();
  const call = apiCaller(system.gatewayUrl, system.business.api_key);
  const endpoint = await call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
  receiver.useSecret(String(endpoint.body["secret"]));
  const answerMs: number[] = [];
  const delayMs: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (let i = 0; i < perRound; i++) {
      const id = await aPaidPayment(system);
      const sentAtMs = performance.now();
      const refunded = await call("POST", `/api/v1/payments/${id}/refund`);
      const answeredAtMs = performance.now();
      if (refunded.status !== 200) throw new Error(`refund: ${refunded.status} ${JSON.stringify(refunded.body)}`);
      answerMs.push(answeredAtMs - sentAtMs);
      delayMs.push((await arrival(receiver, id)) - answeredAtMs);
    }
    say(`round ${round} of ${rounds}: ${system.events.mode}, median so far ${median(delayMs).toFixed(1)} ms`);
  }
  delayMs.sort((a, b) => a - b);
  return {
    refunds: delayMs.length,
    "refund answered ms (median)": median(answerMs).toFixed(1),
    "webhook after the 200, ms (median)": median(delayMs).toFixed(1),
    "p95 ms": (delayMs[Math.floor(delayMs.length * 0.95)] ?? 0).toFixed(1),
  };
}

async function arrival(receiver: Awaited<ReturnType<typeof startReceiver>>, paymentId: string): Promise<number> {
  for (let i = 0; i < 20_000; i++) {
    const found = receiver.received.find(({ event, body }) => event === "PAYMENT_REFUNDED" && body["payment_id"] === paymentId);
    if (found) return found.receivedAtMs;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`no webhook for ${paymentId}`);
}
