import type { System } from "@amana/dev-env/system";
import { startTestSystem } from "@amana/e2e/test-system";
import { type Balancer, startBalancer } from "./balancer.ts";
import { type Replicas, replicatedServices, type Settings, startReplicas, type Version } from "./replicas.ts";

/** Delay of a graceful shutdown. As in a cluster, it is much longer than the probe interval. */
const stopDelayMs = 3_000;
/**
 * Pause between replacements. Services avoid an unreachable replica for a shorter time, so they use
 * a replaced replica again before the next one stops.
 */
export const pauseMs = 1_200;

/** A running system with two replicas of each service, and a load balancer for the gateways. */
export interface ReplicatedSystem extends AsyncDisposable {
  readonly system: System;
  /** Settings with which the next processes of the replicas start. */
  readonly settings: Settings;
  readonly replicas: Replicas["byService"];
  readonly balancer: Balancer;
  /** Returns the unexpected exits of replicas since the last call. */
  takeCrashes(): string[];
}

export async function startReplicatedSystem(version?: Version): Promise<ReplicatedSystem> {
  await using stack = new AsyncDisposableStack();
  const { system } = stack.use(
    await startTestSystem(
      "kafka",
      { gateway: { STOP_DELAY_MS: String(stopDelayMs) }, clients: { ONBOARDING_AUTO_APPROVE: "true" } },
      { started: ["sandbox"] },
    ),
  );
  const settings = Object.fromEntries(replicatedServices.map((name) => [name, system.envOf(name)])) as Settings;
  const envOf: System["envOf"] = (name) => (name === "sandbox" ? system.envOf(name) : settings[name]);
  const crashes: string[] = [];
  const { byService } = stack.use(await startReplicas({ ...system, envOf }, version, (text) => crashes.push(text)));
  const balancer = stack.use(startBalancer(byService.gateway.map(({ url }) => url)));
  await balancer.waitUntilAllReady();
  const resources = stack.move();
  return {
    ...{ system, settings, replicas: byService, balancer },
    takeCrashes: () => crashes.splice(0),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
