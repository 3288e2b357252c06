import type { System } from "@amana/dev-env/system";
import { amanaDone, databaseSettings } from "@amana/e2e/run-amana";
import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { type Receiver, receiveEvents } from "../events/receive-events.ts";
import type { Attempt, Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { type Balancer, startBalancer } from "../rolling/balancer.ts";
import { checkEffects } from "../rolling/check-effects.ts";
import { beCustomers, pausesIn, type Shop } from "../rolling/customers.ts";
import { type Replicas, replicated, startReplicas } from "../rolling/replicas.ts";
import { pauseMs, stopDelayMs } from "../rolling/rolling.ts";
import { type Deployment, type RotatedSecret, rotations, type Settings, type Step } from "./steps.ts";
import { checkUses, type Used, useSecrets } from "./use-secrets.ts";

/**
 * Rotates these secrets by the steps of docs/secrets.md, replica after replica, under load.
 * `leftOut` names a step that is not done, to see that the program notices.
 */
export const rotationOf = (secrets: readonly RotatedSecret[], leftOut?: string): Program => ({
  attacks: "no request fails, and nothing is lost or called forged, while each secret is changed step by step",
  run: (attempt) => run(attempt, secrets, leftOut),
});

export const rotation: Program = rotationOf(Object.keys(rotations) as RotatedSecret[]);

interface Stage {
  readonly shop: Omit<Shop, "signal">;
  readonly deployment: Deployment;
  readonly replicas: Replicas;
  readonly balancer: Balancer;
  /** Of an endpoint that only checks go to. */
  readonly checkedUrl: string;
  readonly used: Used;
  readonly say: Attempt["say"];
}

async function run(
  { seed, seconds, signal, report, say }: Attempt,
  secrets: readonly RotatedSecret[],
  leftOut: string | undefined,
): Promise<void> {
  await using test = await startTestSystem("kafka", {
    gateway: { STOP_DELAY_MS: String(stopDelayMs) },
    clients: { ONBOARDING_AUTO_APPROVE: "true" },
  });
  const { system } = test;
  const settings = Object.fromEntries(replicated.map((name) => [name, system.envOf(name)])) as Settings;
  await using receivers = await receiveEvents(createRandom(seed), 2);
  const [receiver, checked] = receivers.receivers as [Receiver, Receiver];
  const business = await aBusiness(system);
  await using _receiver = business.receiver;
  const endpoint = await business.call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
  receiver.secret = String(endpoint.body["secret"]);
  const running: System = { ...system, envOf: (name) => (name === "sandbox" ? system.envOf(name) : settings[name]) };
  await using replicas = await startReplicas(running, undefined, (text) => report.violation(text));
  await using balancer = startBalancer(replicas.of.gateway.map(({ url }) => url));
  await balancer.allReady();

  const done: Shop["done"] = { payments: new Map(), clients: [], applications: [] };
  const shop = { system, balancer, apiKey: business.key, report, done, pauses: pausesIn(seconds) };
  const stage: Stage = {
    ...{ shop, replicas, balancer, say },
    deployment: deploymentOf(system, settings),
    checkedUrl: checked.url,
    used: { verified: [] },
  };
  do for (const secret of secrets) await rotate(secret, stage, leftOut);
  while (!signal.aborted);
  say(`${done.payments.size} payments, ${done.applications.length} applications; waiting for what is still to be told`);
  await checkEffects({ ...shop, signal }, receiver);
  await checkUses({ ...shop, signal }, stage.used);
  report.check("webhooks are signed", receivers.refusedForTheirTime() === 0, () => `${receivers.refusedForTheirTime()} are not`);
}

function deploymentOf(system: System, settings: Settings): Deployment {
  return {
    settings,
    async reencrypt() {
      const keys = { SECRET_ENCRYPTION_KEYS: settings.webhooks["SECRET_ENCRYPTION_KEYS"] ?? "" };
      await amanaDone({ ...databaseSettings(system.databaseUrls), ...keys }, "secrets", "reencrypt");
    },
    async tellProvider(secret) {
      await system.services.sandbox.stop();
      await system.services.sandbox.start({ KYC_CALLBACK_SECRET: secret });
    },
  };
}

async function rotate(secret: RotatedSecret, stage: Stage, leftOut: string | undefined): Promise<void> {
  for (const step of rotations[secret]()) {
    if (step.does === leftOut) continue;
    stage.say(`${secret}: ${step.does}`);
    if (step.withoutLoad) await perform(step, stage);
    else await underLoad(stage, () => perform(step, stage));
  }
  stage.shop.report.count(`changed: ${secret}`);
}

/** The waiting times of docs/secrets.md are left out: no message or request is as old here. */
async function perform(step: Step, { deployment, ...stage }: Stage): Promise<void> {
  await step.run(deployment);
  await restart(step, stage);
}

async function restart(step: Step, { replicas, balancer, shop }: Omit<Stage, "deployment">): Promise<void> {
  for (const name of step.restart) {
    for (const replica of replicas.of[name]) {
      await sleep(pauseMs);
      await replica.replace(undefined);
      await balancer.allReady();
      shop.report.count("replicas restarted");
    }
  }
}

/** While customers come and go. What they do at the end is done with the new settings everywhere. */
async function underLoad({ shop, checkedUrl, used }: Stage, work: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const during = { ...shop, signal: over.signal };
  const customers = Promise.all([beCustomers(during), useSecrets(during, checkedUrl, used)]);
  try {
    await work();
    await sleep(pauseMs);
  } finally {
    over.abort();
    await customers;
  }
}
