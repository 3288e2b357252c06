import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "@amana/dev-env/eventually";
import type { Kafka } from "@amana/dev-env/kafka/kafka";
import { type Postgres, startPostgres } from "@amana/dev-env/postgres";
import { type KycProvider, kycProviderSettings } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { callSandbox, copyPostgresData, startTestSystem } from "@amana/e2e/test-system";
import { Pool } from "pg";
import { request } from "undici";
import { type ProcessorProxy, startProcessorProxy } from "../refunds/processor-proxy.ts";
import { type Replica, type Replicas, type ReplicatedService, replicatedServices, startReplicas } from "../rolling/replicas.ts";
import { Crashes } from "./crashes.ts";
import { Locks } from "./locks.ts";

/** Application name of the program's own database connections. Faults do not cut them. */
export const applicationName = "chaos";
const readyMsMax = 180_000;

/**
 * A running system with two replicas of each service, on which schedules are played in sequence.
 */
export interface MatrixSystem extends AsyncDisposable {
  readonly system: System;
  /** Verification provider of new applications. */
  readonly kycProvider: KycProvider;
  readonly replicas: Replicas["byService"];
  readonly postgres: Postgres;
  readonly kafka: Kafka;
  readonly proxy: ProcessorProxy;
  /**
   * Connections with the roles that own the tables. "postgres" is the superuser's connection.
   */
  readonly databases: Readonly<Record<"payments" | "kyc" | "webhooks" | "identity" | "postgres", Pool>>;
  /** Prevents concurrent operations on one process. */
  readonly locks: Locks<Replica>;
  readonly crashes: Crashes;
  /** File with the armed fault point of a service, which its replicas read. */
  pointFile(service: ReplicatedService): string;
  /** Returns the URL of a gateway. Successive calls return the gateways in rotation. */
  gatewayUrl(): string;
  /** Restarts kyc with this provider for new applications, unless kyc already uses the provider. */
  useKycProvider(kycProvider: KycProvider): Promise<void>;
  /** Removes all faults and waits until all processes are ready. */
  restoreAll(): Promise<void>;
}

/** Settings of payments. The intervals are seconds in place of minutes and days. */
const payments = {
  SATIM_TIMEOUT_MS: "1000",
  PAYMENT_CHECK_SECONDS: "0.5,1,2",
  REFUND_RESEND_AFTER_SECONDS: "1.5,2",
  REFUND_CHECK_SECONDS: "0.5,0.5,1",
  // Longer than any late effect can be delayed, and longer than a process can be frozen before it
  // sends.
  REFUND_LATE_EFFECT_SECONDS: "10",
  REFUND_DECISION_AFTER_SECONDS: "4",
  REFUND_REREAD_SECONDS: "2,6",
  PAYMENT_REREAD_SECONDS: "3,8",
  PAYMENT_REREADS_PER_SECOND: "50",
};
const kyc = { KYC_CHECK_SECONDS: "0.5,0.5,1", KYC_CATCH_UP_SECONDS: "1", KYC_PROVIDER_TIMEOUT_MS: "1000" };
const retries = Array.from({ length: 60 }, () => "1").join();
const webhooks = { RETRY_SCHEDULE_SECONDS: `0.3,0.5,${retries}` };

export async function startMatrixSystem(firstProvider: KycProvider): Promise<MatrixSystem> {
  let kycProvider = firstProvider;
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), "amana-break-matrix-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  await copyPostgresData(dir);
  // Uses fsync, because committed rows must survive an immediate stop.
  const postgres = await startPostgres({ dataDir: join(dir, "postgres"), durable: true, log: () => {} });
  stack.defer(() => postgres.stop());
  const proxy = stack.use(await startProcessorProxy());
  const pointFile = (service: ReplicatedService) => join(dir, `point-of-${service}`);
  const settings = { payments: { ...payments, SATIM_URL: `${proxy.url}/payment/rest` }, kyc, webhooks };
  const env = Object.fromEntries(
    replicatedServices.map((service) => [
      service,
      {
        EVENT_RETRY_SECONDS: `0.3,0.5,${retries}`,
        FAULT_POINT_FILE: pointFile(service),
        ...(settings as Partial<Record<ReplicatedService, Record<string, string>>>)[service],
      },
    ]),
  );
  const testSystem = stack.use(await startTestSystem("kafka", env, { databaseUrl: postgres.superuserUrl, started: ["sandbox"] }));
  const { system, kafka } = testSystem;
  if (!kafka) throw new Error("the test system has no Kafka");
  proxy.target = system.sandboxUrl;
  const crashes = new Crashes();
  const envOf: System["envOf"] = (name) => ({
    ...system.envOf(name),
    ...(name === "kyc" && kycProviderSettings(kycProvider)),
  });
  const replicas = stack.use(await startReplicas({ ...system, envOf }, undefined, (text, name) => crashes.add(name, text)));
  const openPool = (url: string | undefined) => {
    const pool = new Pool({ connectionString: url, application_name: applicationName, max: 4 });
    pool.on("error", () => {});
    // PostgreSQL may stop while a connection is in use. The running query then throws.
    pool.on("connect", (client) => client.on("error", () => {}));
    stack.defer(() => pool.end());
    return pool;
  };
  const { payments: paymentsUrl, kyc: kycUrl, webhooks: webhooksUrl, identity: identityUrl } = system.ownerDatabaseUrls;
  const databases = {
    payments: openPool(paymentsUrl),
    kyc: openPool(kycUrl),
    webhooks: openPool(webhooksUrl),
    identity: openPool(identityUrl),
    postgres: openPool(postgres.superuserUrl),
  };
  const locks = new Locks<Replica>();
  const gateways = replicas.byService.gateway.map(({ url }) => url);
  const allReplicas = Object.values(replicas.byService).flat();
  let nextGateway = 0;
  const restoreAll = async () => {
    await Promise.all([postgres.start(), kafka.start()]);
    for (const replica of allReplicas) {
      const pid = replica.pid();
      if (pid !== undefined) process.kill(pid, "SIGCONT");
    }
    await Promise.all(allReplicas.map((replica) => locks.with(replica, () => replica.restart())));
    await callSandbox(system, "DELETE", "/sandbox/faults");
    const isReady = async () => (await Promise.all(gateways.map(isGatewayReady))).every((ready) => ready);
    if (!(await waitUntil(isReady, readyMsMax)))
      throw new Error(`the system was not ready ${readyMsMax / 1000} s after the end of its faults`);
  };
  await restoreAll();
  const resources = stack.move();
  return {
    ...{
      system,
      replicas: replicas.byService,
      postgres,
      kafka,
      proxy,
      databases,
      locks,
      crashes,
      pointFile,
      restoreAll,
    },
    get kycProvider() {
      return kycProvider;
    },
    async useKycProvider(provider) {
      if (provider === kycProvider) return;
      kycProvider = provider;
      for (const replica of replicas.byService.kyc) await locks.with(replica, () => replica.replace(undefined));
      await restoreAll();
    },
    gatewayUrl: () => gateways[nextGateway++ % gateways.length] as string,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function isGatewayReady(gatewayUrl: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${gatewayUrl}/readyz`, { headersTimeout: 2_000, bodyTimeout: 2_000 });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
