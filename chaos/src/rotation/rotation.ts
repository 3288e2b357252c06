import type { System } from "@amana/dev-env/system";
import { databaseSettings, runAmana } from "@amana/e2e/run-amana";
import { aBusiness } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { type Receiver, startReceivers } from "../events/start-receivers.ts";
import type { Program, ProgramRun } from "../program.ts";
import { createRandom } from "../random.ts";
import { checkEffects } from "../rolling/check-effects.ts";
import { pauseFactorOf, runCustomers, type Shop } from "../rolling/customers.ts";
import type { Settings } from "../rolling/replicas.ts";
import { pauseMs, type ReplicatedSystem, startReplicatedSystem } from "../rolling/replicated-system.ts";
import { type Deployment, type RotatedSecret, rotations, type Step } from "./steps.ts";
import { checkUses, type UsedSecrets, useSecrets } from "./use-secrets.ts";

const allSecrets = Object.keys(rotations) as RotatedSecret[];

/**
 * Rotates each secret under load by the steps of docs/secrets.md. Replicas restart one after the
 * other.
 */
export const rotationProgram: Program = {
  summary: "rotate each secret step by step under load; no request fails, no event is lost or counted as forged",
  async run(options) {
    await using replicatedSystem = await startReplicatedSystem();
    await run(replicatedSystem, options, allSecrets, undefined);
  },
};

/**
 * Returns the program `rotation` for a running system and for these secrets. A test sets
 * `skippedStep` to a step's action. The program then omits this step, must find violations, and
 * ends at the first violation.
 */
export const rotationOn = (
  replicatedSystem: ReplicatedSystem,
  secrets: readonly RotatedSecret[],
  skippedStep?: string,
): Program => ({
  ...rotationProgram,
  run: (options) => run(replicatedSystem, options, secrets, skippedStep),
});

interface RotationContext {
  readonly shop: Omit<Shop, "signal">;
  readonly deployment: Deployment;
  readonly replicatedSystem: ReplicatedSystem;
  /** URL of the endpoints that `useSecrets` creates and checks. */
  readonly checkedUrl: string;
  readonly used: UsedSecrets;
  readonly skippedStep: string | undefined;
  /** Returns true if a step was skipped and a violation was found. */
  isOver(): boolean;
  readonly log: ProgramRun["log"];
}

async function run(
  replicatedSystem: ReplicatedSystem,
  { seed, seconds, signal, report, log }: ProgramRun,
  secrets: readonly RotatedSecret[],
  skippedStep: string | undefined,
): Promise<void> {
  const { system, balancer, settings } = replicatedSystem;
  await using receivers = await startReceivers(createRandom(seed), 2);
  const [receiver, checkedReceiver] = receivers.receivers as [Receiver, Receiver];
  const business = await aBusiness(system);
  await using _receiver = business.receiver;
  const endpoint = await business.call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
  receiver.secret = String(endpoint.body["secret"]);

  const completed: Shop["completed"] = { payments: new Map(), clients: [], applications: [] };
  const shop = { system, balancer, apiKey: business.key, report, completed, pauseFactor: pauseFactorOf(seconds) };
  const context: RotationContext = {
    ...{ shop, replicatedSystem, skippedStep, log },
    deployment: createDeployment(system, settings),
    checkedUrl: checkedReceiver.url,
    used: { verified: [] },
    isOver: () => skippedStep !== undefined && report.violations.length > 0,
  };
  do for (const secret of secrets) await rotate(secret, context);
  while (!signal.aborted && !context.isOver());
  if (context.isOver()) return;
  log(`${completed.payments.size} payments, ${completed.applications.length} applications; waiting for the remaining webhooks`);
  await checkEffects({ ...shop, signal }, receiver);
  await checkUses({ ...shop, signal }, context.used);
  report.check(
    "webhooks are signed",
    receivers.countRejectedSignatures() === 0,
    () => `${receivers.countRejectedSignatures()} without a valid signature`,
  );
  for (const crash of replicatedSystem.takeCrashes()) report.violation(crash);
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

async function rotate(secret: RotatedSecret, context: RotationContext): Promise<void> {
  for (const step of rotations[secret]()) {
    if (step.action === context.skippedStep || context.isOver()) continue;
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

async function restart(step: Step, { replicatedSystem, shop, isOver }: Omit<RotationContext, "deployment">): Promise<void> {
  const { replicas, balancer } = replicatedSystem;
  for (const name of step.restart) {
    for (const replica of replicas[name]) {
      await sleep(pauseMs);
      if (isOver()) return;
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
