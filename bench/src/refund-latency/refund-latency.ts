import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiCaller } from "@amana/dev-env/demo/api";
import { createProgress } from "@amana/dev-env/progress";
import { type System, startSystem } from "@amana/dev-env/system";
import { createPaidPayment } from "../paid-payment.ts";
import { median, printTable } from "../table.ts";
import { startDistantServer } from "./distant-server.ts";

const roundTripMs = 30;
/** A refund reads the order and sends the refund request. */
const callsPerRefund = 2;
/** The handshakes of TCP and TLS 1.3. */
const roundTripsPerConnection = 2;

/**
 * Measures the latency of refunds, one at a time, with a processor behind TLS whose round trip
 * takes 30 ms. Compares the median with the round trips of a refund, which follow from the number
 * of connections and the measured round trip. Default of `running`: a new system. The caller must
 * restart the payments service of `running`, because the service still uses that processor, which
 * has stopped.
 */
export async function measureRefundLatency({ quick }: { quick: boolean }, running?: System) {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const names = ["", "_REFUND", "_CREATION", "_KEYLESS"];
  const gateway = Object.fromEntries(names.map((name) => [`RATE_LIMIT${name}_PER_SECOND`, "0"]));
  const system = running ?? stack.use(await startSystem({ dir, events: "direct", progress: createProgress(), env: { gateway } }));
  const paymentIds: string[] = [];
  for (let i = 0; i < (quick ? 10 : 200); i++) paymentIds.push(await createPaidPayment(system));

  const processor = stack.use(await startDistantServer(dir, new URL(`${system.sandboxUrl}/payment/rest`), roundTripMs));
  const { payments } = system.services;
  await payments.stop();
  await payments.start({ SATIM_URL: processor.url, NODE_EXTRA_CA_CERTS: processor.certificateFile });
  await system.waitUntilReady();

  const call = apiCaller(system.gatewayUrl, system.business.api_key);
  const durations: number[] = [];
  for (const id of paymentIds) {
    const startMs = performance.now();
    const { status, text } = await call("POST", `/api/v1/payments/${id}/refund`);
    if (status !== 200) throw new Error(`the refund returned status ${status}: ${text}`);
    durations.push(performance.now() - startMs);
  }
  const { connections, handshakes } = processor.counts();
  const roundTrips = callsPerRefund + (roundTripsPerConnection * connections) / paymentIds.length;
  const p50 = median(durations);
  const networkMs = roundTrips * processor.roundTripMs();
  const row = {
    refunds: paymentIds.length,
    "TCP connections": connections,
    "TLS handshakes": handshakes,
    "round trips/refund": Number(roundTrips.toFixed(2)),
    "round trip ms": Number(processor.roundTripMs().toFixed(1)),
    "network ms": Number(networkMs.toFixed(1)),
    "p50 ms": Number(p50.toFixed(1)),
    "rest ms (goal ≤ 10)": Number((p50 - networkMs).toFixed(1)),
  };
  printTable([row]);
  return row;
}
