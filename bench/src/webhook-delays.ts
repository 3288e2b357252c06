import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import { type ReceivedWebhook, startReceiver } from "@amana/dev-env/demo/receiver";
import { createProgress } from "@amana/dev-env/progress";
import { type System, startSystem } from "@amana/dev-env/system";
import { median, printTable, say } from "./table.ts";

const perRound = 20;
const webhookTimeoutMs = 20_000;

/** What is measured, one after another. */
export interface Happening {
  /** Column titles. */
  readonly calls: string;
  readonly callMs: string;
  readonly delayMs: string;
  /** Makes something happen that a webhook tells of. */
  run(
    system: System,
    call: ApiCaller,
    webhook: (event: string, about: string) => Promise<ReceivedWebhook>,
  ): Promise<{ callMs: number; delayMs: number }>;
}

/**
 * How long after something happened its webhook arrives, one at a time, with direct events and with
 * a local Kafka.
 */
export async function webhookDelays(happening: Happening, rounds: number) {
  const rows: Record<string, string | number>[] = [];
  for (const events of ["direct", "kafka"] as const) {
    const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
    try {
      const unlimited = {
        RATE_LIMIT_REFUND_PER_SECOND: "0",
        RATE_LIMIT_KYC_PER_SECOND: "0",
        RATE_LIMIT_CREATION_PER_SECOND: "0",
      };
      await using system = await startSystem({ dir, events, progress: createProgress(), env: { gateway: unlimited } });
      rows.push({ events, ...(await measure(system, happening, rounds)) });
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }
  printTable(rows);
  return rows;
}

async function measure(system: System, happening: Happening, rounds: number) {
  await using receiver = await startReceiver();
  const call = apiCaller(system.gatewayUrl, system.business.api_key);
  const endpoint = await call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
  receiver.useSecret(String(endpoint.body["secret"]));
  const webhook = async (event: string, about: string) => {
    const found = await receiver.next(event, about, webhookTimeoutMs);
    if (!found) throw new Error(`no ${event} about ${about}`);
    return found;
  };
  const callMs: number[] = [];
  const delayMs: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (let i = 0; i < perRound; i++) {
      const seen = await happening.run(system, call, webhook);
      callMs.push(seen.callMs);
      delayMs.push(seen.delayMs);
    }
    say(`round ${round} of ${rounds}: ${system.events.mode}, median so far ${median(delayMs).toFixed(1)} ms`);
  }
  delayMs.sort((a, b) => a - b);
  return {
    [happening.calls]: delayMs.length,
    [happening.callMs]: median(callMs).toFixed(1),
    [happening.delayMs]: median(delayMs).toFixed(1),
    "p95 ms": (delayMs[Math.floor(delayMs.length * 0.95)] ?? 0).toFixed(1),
  };
}
