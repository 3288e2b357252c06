import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { type Receiver, receiveEvents } from "../events/receive-events.ts";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import type { Report } from "../report.ts";
import { type Balancer, startBalancer } from "./balancer.ts";
import { checkEffects } from "./check-effects.ts";
import { beCustomers, pausesIn, type Shop } from "./customers.ts";
import { type Replicas, replicated, startReplicas, type Version } from "./replicas.ts";

/** Much longer than the balancer's probes are apart, as in a cluster: a busy machine is late. */
export const stopDelayMs = 3_000;
/** Longer than callers pass over a replica that was away. */
export const pauseMs = 1_200;

export const rolling: Program = {
  attacks:
    "no request fails and nothing is lost or doubled while each service is replaced, one replica after the other; OTHER_VERSION names the folder of the version to go back to",
  async run({ seed, seconds, signal, report, say }) {
    const other: Version = process.env["OTHER_VERSION"] || undefined;
    await using test = await startTestSystem("kafka", { gateway: { STOP_DELAY_MS: String(stopDelayMs) } });
    const { system } = test;
    await using receivers = await receiveEvents(createRandom(seed), 1);
    const receiver = receivers.receivers[0] as Receiver;
    const business = await aBusiness(system);
    await using _receiver = business.receiver;
    await business.call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
    // The other version runs on the schema of this one.
    await using replicas = await startReplicas(system, other, (text) => report.violation(text));
    await using balancer = startBalancer(replicas.of.gateway.map(({ url }) => url));
    await balancer.allReady();

    const over = new AbortController();
    const done: Shop["done"] = { payments: new Map(), clients: [], applications: [] };
    const shop: Shop = { system, balancer, apiKey: business.key, report, signal: over.signal, done, pauses: pausesIn(seconds) };
    const customers = beCustomers(shop);
    // To this version, back to the other one, and so on: each round leaves every service replaced.
    const roundsMin = other ? 2 : 1;
    for (let version: Version; ; version = version === other ? undefined : other) {
      if (signal.aborted && report.counted("rounds") >= roundsMin) break;
      say(`every service, one replica after the other, to ${version ?? "this version"}`);
      await replaceAll(replicas, balancer, version, report);
      report.count("rounds");
    }
    over.abort();
    await customers;
    say(`${done.payments.size} payments and ${done.applications.length} applications; waiting for what is still to be told`);
    await checkEffects(shop, receiver);
  },
};

async function replaceAll({ of }: Replicas, balancer: Balancer, version: Version, report: Report): Promise<void> {
  for (const name of replicated) {
    for (const replica of of[name]) {
      await sleep(pauseMs);
      await replica.replace(version);
      await balancer.allReady();
      report.count(`replaced: ${name}`);
    }
  }
}
