import { aBusiness } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { type Receiver, startReceivers } from "../events/start-receivers.ts";
import type { Program, ProgramRun } from "../program.ts";
import { createRandom } from "../random.ts";
import type { Report } from "../report.ts";
import { checkEffects } from "./check-effects.ts";
import { pauseFactorOf, runCustomers, type Shop } from "./customers.ts";
import { replicatedServices, type Version } from "./replicas.ts";
import { pauseMs, type ReplicatedSystem, startReplicatedSystem } from "./replicated-system.ts";

const readOtherVersion = (): Version => process.env["OTHER_VERSION"] || undefined;

export const rollingProgram: Program = {
  summary:
    "replace each service under load, one replica after the other; no request fails, no effect is lost or doubled (OTHER_VERSION: folder of a version to change to and back)",
  async run(options) {
    // The database has the schema of this version, even while the other version runs.
    await using replicatedSystem = await startReplicatedSystem(readOtherVersion());
    await roll(replicatedSystem, options);
  },
};

/** Returns the program `rolling` for a running system. */
export const rollingOn = (replicatedSystem: ReplicatedSystem): Program => ({
  ...rollingProgram,
  run: (options) => roll(replicatedSystem, options),
});

async function roll(replicatedSystem: ReplicatedSystem, { seed, seconds, signal, report, log }: ProgramRun): Promise<void> {
  const { system, balancer } = replicatedSystem;
  const otherVersion = readOtherVersion();
  await using receivers = await startReceivers(createRandom(seed), 1);
  const receiver = receivers.receivers[0] as Receiver;
  const business = await aBusiness(system);
  await using _receiver = business.receiver;
  await business.call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });

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
    await replaceAll(replicatedSystem, version, report);
    report.count("rounds");
  }
  loadEnds.abort();
  await customers;
  log(
    `${completed.payments.size} payments and ${completed.applications.length} applications; waiting for the remaining webhooks`,
  );
  await checkEffects(shop, receiver);
  for (const crash of replicatedSystem.takeCrashes()) report.violation(crash);
}

async function replaceAll({ replicas, balancer }: ReplicatedSystem, version: Version, report: Report): Promise<void> {
  for (const name of replicatedServices) {
    for (const replica of replicas[name]) {
      await sleep(pauseMs);
      await replica.replace(version);
      await balancer.waitUntilAllReady();
      report.count(`replaced: ${name}`);
    }
  }
}
