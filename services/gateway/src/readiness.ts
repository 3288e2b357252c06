import { Health, HealthCheckResponse_ServingStatus as Status } from "@amana/contracts/grpc/health/v1/health_pb";
import { createRpcClient, nobody } from "@amana/rpc";
import type { Channels } from "./rpc.ts";

const keptMs = 1_000;
const timeoutMs = 1_000;

/** Whether this gateway can serve: not stopping, and every service behind it reachable. */
export class Readiness {
  readonly #probes: { name: string; probe: () => Promise<boolean> }[];
  #stopping = false;
  #last: { missing: Promise<string[]>; atMs: number } | undefined;

  constructor(channels: Channels) {
    this.#probes = Object.entries(channels).map(([name, channel]) => {
      const health = createRpcClient(Health, channel);
      const probe = async () => (await health.check({}, { caller: nobody, timeoutMs })).status === Status.SERVING;
      return { name, probe };
    });
  }

  /** Names what is missing; empty when ready. Asks the services at most once a second. */
  async missing(): Promise<string[]> {
    if (this.#stopping) return ["gateway"];
    const now = performance.now();
    if (!this.#last || now - this.#last.atMs > keptMs) this.#last = { missing: this.#probeAll(), atMs: now };
    return await this.#last.missing;
  }

  stop(): void {
    this.#stopping = true;
  }

  async #probeAll(): Promise<string[]> {
    const results = await Promise.all(
      this.#probes.map(async ({ name, probe }) => ({ name, serving: await probe().catch(() => false) })),
    );
    return results.filter(({ serving }) => !serving).map(({ name }) => name);
  }
}
