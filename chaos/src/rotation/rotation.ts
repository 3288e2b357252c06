import type { System } from "@amana/dev-env/system";
import { databaseSettings, runAmana } from "@amana/e2e/run-amana";
import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { type Receiver, startReceivers } from "../events/start-receivers.ts";
import type { Program, ProgramRun } from "../program.ts";
import { createRandom } from "../random.ts";
import { type Balancer, startBalancer } from "../rolling/balancer.ts";
import { checkEffects } from "../rolling/check-effects.ts";
import { pauseFactorOf, runCustomers, type Shop } from "../rolling/customers.ts";
import { type Replicas, replicatedServices, startReplicas } from "../rolling/replicas.ts";
import { pauseMs, stopDelayMs } from "../rolling/rolling.ts";
import { type Deployment, type RotatedSecret, rotations, type Settings, type Step } from "./steps.ts";
import { checkUses, type UsedSecrets, useSecrets } from "./use-secrets.ts";

/**
 * Returns a program that rotates these secrets under load by the steps of docs/secrets.md. Replicas
 * restart one after the other. A test sets `skippedStep` to a step's action. The program then omits
 * this step and must find violations.
 */
export const rotationOf = (secrets: readonly RotatedSecret[], skippedStep?: string): Program => ({
  summary: "rotate each secret step by step under load; no request fails, no event is lost or counted as forged",
  run: (options) => run(options, secrets, skippedStep),
});

export const rotationProgram: Program = rotationOf(Object.keys(rotations) as RotatedSecret[]);

interface RotationContext {
  readonly shop: Omit<Shop, "signal">;
  readonly deployment: Deployment;
  readonly replicas: Replicas;
  readonly balancer: Balancer;
  /** URL of the endpoints that `useSecrets` creates and checks. */
  readonly checkedUrl: string;
  readonly used: UsedSecrets;
  readonly log: ProgramRun["log"];
}

async function run(
  { seed, seconds, signal, report, log }: ProgramRun,
  secrets: readonly RotatedSecret[],
  skippedStep: string | undefined,
): Promise<void> {
  await using test = await startTestSystem("kafka", {
    gateway: { STOP_DELAY_MS: String(stopDelayMs) },
    clients: { ONBOARDING_AUTO_APPROVE: "true" },
  });
  const { system } = test;
  const settings = Object.fromEntries(replicatedServices.map((name) => [name, system.envOf(name)])) as Settings;
  await using receivers = await startReceivers(createRandom(seed), 2);
  const [receiver, checkedReceiver] = receivers.receivers as [Receiver, Receiver];
  const business = await aBusiness(system);
  await using _receiver = business.receiver;
  const endpoint = await business.call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
  receiver.secret = String(endpoint.body["secret"]);
  const systemWithSettings: System = { ...system, envOf: (name) => (name === "sandbox" ? system.envOf(name) : settings[name]) };
  await using replicas = await startReplicas(systemWithSettings, undefined, (text) => report.violation(text));
  await using balancer = startBalancer(replicas.byService.gateway.map(({ url }) => url));
  await balancer.waitUntilAllReady();

  const completed: Shop["completed"] = { payments: new Map(), clients: [], applications: [] };
  const shop = { system, balancer, apiKey: business.key, report, completed, pauseFactor: pauseFactorOf(seconds) };
  const context: RotationContext = {
    ...{ shop, replicas, balancer, log },
    deployment: createDeployment(system, settings),
    checkedUrl: checkedReceiver.url,
    used: { verified: [] },
  };
  do for (const secret of secrets) await rotate(secret, context, skippedStep);
  while (!signal.aborted);
  log(`${completed.payments.size} payments, ${completed.applications.length} applications; waiting for the remaining webhooks`);
  await checkEffects({ ...shop, signal }, receiver);
  await checkUses({ ...shop, signal }, context.used);
  report.check(
    "webhooks are signed",
    receivers.countRejectedSignatures() === 0,
    () => `${receivers.countRejectedSignatures()} without a valid signature`,
  );
}

function createDeployment(system: System, settings: Settings): Deployment {
  return {
    settings,
    async reencrypt() {
      const keys = { SECRET_ENCRYPTION_KEYS: settings.webhooks["SECRET_ENCRYPTION_KEYS"] ?? "" };
      await runAmana({ ...databaseSettings(system.databaseUrls), ...keys }, "secrets", "reencrypt");
    },
    async setProviderSecret(secret) {
      await system.services.sandbox.stop();
      await system.services.sandbox.start({ KYC_CALLBACK_SECRET: secret });
    },
  };
}

async function rotate(secret: RotatedSecret, context: RotationContext, skippedStep: string | undefined): Promise<void> {
  for (const step of rotations[secret]()) {
    if (step.action === skippedStep) continue;
    context.log(`${secret}: ${step.action}`);
    if (step.withoutLoad) await perform(step, context);
    else await runUnderLoad(context, () => perform(step, context));
  }
  context.shop.report.count(`changed: ${secret}`);
}

/**
 * Performs a step and restarts replicas. Omits the waiting times of docs/secrets.md. In production,
 * messages and requests from before the step can still be in use for days. In a run, they are not.
 */
async function perform(step: Step, { deployment, ...context }: RotationContext): Promise<void> {
  await step.run(deployment);
  await restart(step, context);
}

async function restart(step: Step, { replicas, balancer, shop }: Omit<RotationContext, "deployment">): Promise<void> {
  for (const name of step.restart) {
    for (const replica of replicas.byService[name]) {
      await sleep(pauseMs);
      await replica.replace(undefined);
      await balancer.waitUntilAllReady();
      shop.report.count("replicas restarted");
    }
  }
}

/**
 * Runs `work` under load. After `work`, the load continues for a moment, so that requests reach all
 * replicas with the new settings.
 */
async function runUnderLoad({ shop, checkedUrl, used }: RotationContext, work: () => Promise<void>): Promise<void> {
  const loadEnds = new AbortController();
  const loadedShop = { ...shop, signal: loadEnds.signal };
  const customers = Promise.all([runCustomers(loadedShop), useSecrets(loadedShop, checkedUrl, used)]);
  try {
    await work();
    await sleep(pauseMs);
  } finally {
    loadEnds.abort();
    await customers;
  }
}
