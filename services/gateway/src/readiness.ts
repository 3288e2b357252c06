import { Health, HealthCheckResponse_ServingStatus as Status } from "@amana/contracts/grpc/health/v1/health_pb";
import { createRpcClient, noCaller } from "@amana/rpc";
import { atMostEvery } from "@amana/runtime";
import type { Channels } from "./rpc.ts";

const probeEveryMs = 1_000;
const timeoutMs = 1_000;

/**
 * Creates the readiness check. The gateway is ready if it is not stopping and all services are
 * reachable.
 */
export function createReadiness(channels: Channels) {
  let isStopping = false;
  const missing = atMostEvery(probeEveryMs, async () => {
    const probes = Object.entries(channels).map(async ([name, channel]) => {
      const probe = createRpcClient(Health, channel).check({}, { caller: noCaller, timeoutMs });
      const isServing = await probe.then(({ status }) => status === Status.SERVING).catch(() => false);
      return isServing ? [] : [name];
    });
    return (await Promise.all(probes)).flat();
  });
  return {
    /**
     * Returns the names of unavailable services, or only "gateway" if the gateway is stopping. The
     * list is empty if the gateway is ready.
     */
    missing: async () => (isStopping ? ["gateway"] : await missing()),
    stop() {
      isStopping = true;
    },
  };
}
