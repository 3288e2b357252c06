import { aBusiness, startTestSystem } from "@amana/dev-env/test-system";
import { sleep } from "@amana/runtime";
import { type Receiver, receiveEvents } from "../events/receive-events.ts";
import type { Attempt, Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { type Balancer, startBalancer } from "../rolling/balancer.ts";
import { checkEffects } from "../rolling/check-effects.ts";
import { beCustomers, pausesIn, type Shop } from "../rolling/customers.ts";
import { type Replicas, startReplicas } from "../rolling/replicas.ts";
import { pauseMs, stopDelayMs } from "../rolling/rolling.ts";
import { type Settings, type Step, writeSettings } from "./settings.ts";
import { checkUses, type Used, useSecrets } from "./use-secrets.ts";

const everySecret = [
  "kyc-key",
  "gateway-key",
  "fingerprint-key",
  "kyc-callback-secret",
  "encryption-key",
  "event-key:payments.v1",
  "event-key:kyc.v1",
  "event-key:audit.v1",
];

/** Changes these secrets as `amana secrets rotate` says, replica after replica, under load. */
export const rotationOf = (secrets: readonly string[]): Program => ({
  attacks: "no request fails, and nothing is lost or called forged, while each secret is changed step by step",
  run: (attempt) => run(attempt, secrets),
});

export const rotation: Program = rotationOf(everySecret);

interface Stage {
  readonly shop: Omit<Shop, "signal">;
  readonly settings: Settings;
  readonly replicas: Replicas;
  readonly balancer: Balancer;
  /** Of an endpoint that only checks go to. */
  readonly checkedUrl: string;
  readonly used: Used;
  readonly say: Attempt["say"];
}

async function run({ seed, seconds, signal, report, say }: Attempt, secrets: readonly string[]): Promise<void> {
  await using test = await startTestSystem("kafka", {
    gateway: { STOP_DELAY_MS: String(stopDelayMs) },
    clients: { ONBOARDING_AUTO_APPROVE: "true" },
  });
  const { system } = test;
  await using settings = await writeSettings(system);
  await using receivers = await receiveEvents(createRandom(seed), 2);
  const [receiver, checked] = receivers.receivers as [Receiver, Receiver];
  const business = await aBusiness(system);
  await using _receiver = business.receiver;
  const endpoint = await business.call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
  receiver.secret = String(endpoint.body["secret"]);
  const running = { ...system, envOf: settings.envOf };
  await using replicas = await startReplicas(running, undefined, (text) => report.violation(text));
  await using balancer = startBalancer(replicas.of.gateway.map(({ url }) => url));
  await balancer.allReady();

  const done: Shop["done"] = { payments: new Map(), clients: [], applications: [] };
  const shop = { system, balancer, apiKey: business.key, report, done, pauses: pausesIn(seconds) };
  const stage: Stage = {
    ...{ shop, settings, replicas, balancer, say, seconds },
    checkedUrl: checked.url,
    used: { verified: [] },
  };
  do for (const secret of secrets) await change(secret, stage);
  while (!signal.aborted);
  say(`${done.payments.size} payments, ${done.applications.length} applications; waiting for what is still to be told`);
  await checkEffects({ ...shop, signal }, receiver);
  await checkUses({ ...shop, signal }, stage.used);
  report.check("webhooks are signed", receivers.refusedForTheirTime() === 0, () => `${receivers.refusedForTheirTime()} are not`);
}

async function change(secret: string, stage: Stage): Promise<void> {
  for (;;) {
    const step = await stage.settings.rotate(secret);
    stage.say(`${secret}: ${step.text.split("\n").find((line) => line.startsWith("Step"))}`);
    await underLoad(stage, () => restart(step, stage));
    if (step.isLast) return stage.shop.report.count(`changed: ${secret}`);
    if (secret === "kyc-callback-secret") await tellProvider(stage);
  }
}

async function restart(step: Step, { replicas, balancer, shop }: Stage): Promise<void> {
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

/** The provider signs with the new secret from now on. Nobody is there: its restart is not ours. */
async function tellProvider({ shop: { system }, settings }: Stage): Promise<void> {
  const secret = settings.envOf("kyc")["KYC_CALLBACK_SECRETS"]?.split(",").at(-1) ?? "";
  await system.services.sandbox.stop();
  await system.services.sandbox.start({ KYC_CALLBACK_SECRET: secret });
}
