import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { type Receiver, startReceivers } from "../events/start-receivers.ts";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import type { Report } from "../report.ts";
import { type Balancer, startBalancer } from "./balancer.ts";
import { checkEffects } from "./check-effects.ts";
import { pauseFactorOf, runCustomers, type Shop } from "./customers.ts";
import { type Replicas, replicatedServices, startReplicas, type Version } from "./replicas.ts";

/** Delay of a graceful shutdown. As in a cluster, it is much longer than the probe interval. */
export const stopDelayMs = 3_000;
/**
 * Pause between replacements. Services avoid an unreachable replica for a shorter time, so they use
 * a replaced replica again before the next one stops.
 */
export const pauseMs = 1_200;

export const rollingProgram: Program = {
  summary:
    "replace each service under load, one replica after the other; no request fails, no effect is lost or doubled (OTHER_VERSION: folder of a version to change to and back)",
  async run({ seed, seconds, signal, report, log }) {
    const otherVersion: Version = process.env["OTHER_VERSION"] || undefined;
    await using test = await startTestSystem("kafka", { gateway: { STOP_DELAY_MS: String(stopDelayMs) } });
    const { system } = test;
    await using receivers = await startReceivers(createRandom(seed), 1);
    const receiver = receivers.receivers[0] as Receiver;
    const business = await aBusiness(system);
    await using _receiver = business.receiver;
    await business.call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
    // The database has the schema of this version, even while the other version runs.
    await using replicas = await startReplicas(system, otherVersion, (text) => report.violation(text));
    await using balancer = startBalancer(replicas.byService.gateway.map(({ url }) => url));
    await balancer.waitUntilAllReady();

    const loadEnds = new AbortController();
    const completed: Shop["completed"] = { payments: new Map(), clients: [], applications: [] };
    const shop: Shop = {
      system,
      balancer,
      apiKey: business.key,
      report,
      signal: loadEnds.signal,
      completed,
      pauseFactor: pauseFactorOf(seconds),
    };
    const customers = runCustomers(shop);
    // Each round replaces every service. With another version, rounds alternate between the two.
    const roundsMin = otherVersion ? 2 : 1;
    for (let version: Version; ; version = version === otherVersion ? undefined : otherVersion) {
      if (signal.aborted && report.countOf("rounds") >= roundsMin) break;
      log(`replacing every service with ${version ?? "this version"}, one replica after the other`);
      await replaceAll(replicas, balancer, version, report);
      report.count("rounds");
    }
    loadEnds.abort();
    await customers;
    log(
      `${completed.payments.size} payments and ${completed.applications.length} applications; waiting for the remaining webhooks`,
    );
    await checkEffects(shop, receiver);
  },
};

async function replaceAll({ byService }: Replicas, balancer: Balancer, version: Version, report: Report): Promise<void> {
  for (const name of replicatedServices) {
    for (const replica of byService[name]) {
      await sleep(pauseMs);
      await replica.replace(version);
      await balancer.waitUntilAllReady();
      report.count(`replaced: ${name}`);
    }
  }
}
