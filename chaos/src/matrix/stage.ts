import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@amana/dev-env/eventually";
import type { Kafka } from "@amana/dev-env/kafka/kafka";
import { type Postgres, startPostgres } from "@amana/dev-env/postgres";
import type { System } from "@amana/dev-env/system";
import { copyPostgresData, sandbox, startTestSystem } from "@amana/e2e/test-system";
import { Pool } from "pg";
import { request } from "undici";
import { type ProcessorProxy, startProcessorProxy } from "../refunds/processor-proxy.ts";
import { type Replica, type Replicas, type Replicated, replicated, startReplicas } from "../rolling/replicas.ts";
import { Crashes } from "./crashes.ts";
import { Locks } from "./locks.ts";

/** By this our own connections are known, which no fault cuts. */
export const applicationName = "chaos";
const readyMsMax = 180_000;

/** A system with two replicas of each service, on which one schedule after the other is played. */
export interface Stage extends AsyncDisposable {
  readonly system: System;
  readonly replicas: Replicas["of"];
  readonly postgres: Postgres;
  readonly kafka: Kafka;
  readonly proxy: ProcessorProxy;
  /** As the owners of the tables; "postgres" is the superuser's. */
  readonly databases: Readonly<Record<"payments" | "kyc" | "webhooks" | "identity" | "postgres", Pool>>;
  /** What happens to one process happens one thing after the other. */
  readonly locks: Locks<Replica>;
  readonly crashes: Crashes;
  /** Where the next point of a service is written for its replicas. */
  pointFile(service: Replicated): string;
  /** Of the gateways in turn. */
  gatewayUrl(): string;
  /** Ends every fault: all runs again, and answers. */
  mend(): Promise<void>;
}

/** Days and minutes become seconds. */
const payments = {
  SATIM_TIMEOUT_MS: "1000",
  PAYMENT_CHECK_SECONDS: "0.5,1,2",
  REFUND_RESEND_AFTER_SECONDS: "1.5,2",
  REFUND_CHECK_SECONDS: "0.5,0.5,1",
  // Longer than the latest effect that is drawn, and than a process that froze before it sends may
  // take to send.
  REFUND_LATE_EFFECT_SECONDS: "10",
  REFUND_DECISION_AFTER_SECONDS: "4",
  REFUND_REREAD_SECONDS: "2,6",
  PAYMENT_REREAD_SECONDS: "3,8",
  PAYMENT_REREADS_PER_SECOND: "50",
};
const kyc = { KYC_CHECK_SECONDS: "0.5,0.5,1", KYC_CATCH_UP_SECONDS: "1", KYC_PROVIDER_TIMEOUT_MS: "1000" };
const patient = Array.from({ length: 60 }, () => "1").join();
const webhooks = { RETRY_SCHEDULE_SECONDS: `0.3,0.5,${patient}` };

export async function startStage(): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), "amana-break-matrix-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  await copyPostgresData(dir);
  // Durable: what it committed must be there after it was stopped at once.
  const postgres = await startPostgres({ dataDir: join(dir, "postgres"), durable: true, log: () => {} });
  stack.defer(() => postgres.stop());
  const proxy = stack.use(await startProcessorProxy());
  const pointFile = (service: Replicated) => join(dir, `point-of-${service}`);
  const settings = { payments: { ...payments, SATIM_URL: `${proxy.url}/payment/rest` }, kyc, webhooks };
  const env = Object.fromEntries(
    replicated.map((service) => [
      service,
      {
        EVENT_RETRY_SECONDS: `0.3,0.5,${patient}`,
        FAULT_POINT_FILE: pointFile(service),
        ...(settings as Partial<Record<Replicated, Record<string, string>>>)[service],
      },
    ]),
  );
  const running = stack.use(await startTestSystem("kafka", env, { databaseUrl: postgres.superuserUrl }));
  const { system, kafka } = running;
  if (!kafka) throw new Error("there is no Kafka");
  proxy.target = system.sandboxUrl;
  const crashes = new Crashes();
  const replicas = stack.use(await startReplicas(system, undefined, (text, name) => crashes.add(name, text)));
  const open = (url: string | undefined) => {
    const pool = new Pool({ connectionString: url, application_name: applicationName, max: 4 });
    pool.on("error", () => {});
    // PostgreSQL may go away while one is in use; whoever uses it is told.
    pool.on("connect", (client) => client.on("error", () => {}));
    stack.defer(() => pool.end());
    return pool;
  };
  const { payments: ofPayments, kyc: ofKyc, webhooks: ofWebhooks, identity: ofIdentity } = system.ownerDatabaseUrls;
  const databases = {
    payments: open(ofPayments),
    kyc: open(ofKyc),
    webhooks: open(ofWebhooks),
    identity: open(ofIdentity),
    postgres: open(postgres.superuserUrl),
  };
  const locks = new Locks<Replica>();
  const gateways = replicas.of.gateway.map(({ url }) => url);
  const all = Object.values(replicas.of).flat();
  let turn = 0;
  const mend = async () => {
    await Promise.all([postgres.start(), kafka.start()]);
    for (const replica of all) {
      const pid = replica.pid();
      if (pid !== undefined) process.kill(pid, "SIGCONT");
    }
    await Promise.all(all.map((replica) => locks.with(replica, () => replica.restart())));
    await sandbox(system, "DELETE", "/sandbox/faults");
    const isReady = async () => (await Promise.all(gateways.map(answers))).every((ready) => ready);
    if (!(await until(isReady, readyMsMax))) throw new Error(`the system is not ready ${readyMsMax / 1000} s after its faults`);
  };
  await mend();
  const started = stack.move();
  return {
    ...{ system, replicas: replicas.of, postgres, kafka, proxy, databases, locks, crashes, pointFile, mend },
    gatewayUrl: () => gateways[turn++ % gateways.length] as string,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

async function answers(gatewayUrl: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${gatewayUrl}/readyz`, { headersTimeout: 2_000, bodyTimeout: 2_000 });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
