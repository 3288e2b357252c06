import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Amana } from "@amana/client";
import { apiCaller } from "@amana/dev-env/demo/api";
import { startReceiver } from "@amana/dev-env/demo/receiver";
import type { Kafka } from "@amana/dev-env/kafka/kafka";
import { startKafkaNodes } from "@amana/dev-env/kafka/kafka-nodes";
import { silentProgress } from "@amana/dev-env/progress";
import { type System, type SystemOptions, startSystem } from "@amana/dev-env/system";
import { request } from "undici";
import { copySystemData } from "./system-data.ts";

export const validCard = { pan: "6280581110007215", expiry: "01/2027", cvv2: "373", password: "123456" };

export interface TestSystem extends AsyncDisposable {
  readonly system: System;
  /** Folder of all files: logs, PostgreSQL, Kafka and the sandbox. */
  readonly dir: string;
  /** The first Kafka node. Undefined if the system uses the direct transport. */
  readonly kafka: Kafka | undefined;
  /** All Kafka nodes, including `kafka`. */
  readonly kafkaNodes: readonly Kafka[];
}

/**
 * Starts a system in a temporary folder, on free ports, with short retry schedules. Kafka has
 * `kafkaNodes` nodes (default: 1).
 */
export async function startTestSystem(
  events: "kafka" | "direct",
  env: NonNullable<SystemOptions["env"]> = {},
  options: Pick<SystemOptions, "databaseUrl" | "kycProvider" | "supervised" | "started"> & { kafkaNodes?: number } = {},
): Promise<TestSystem> {
  const dir = await mkdtemp(join(tmpdir(), "amana-system-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const { kafkaNodes: nodeCount = 1, ...systemOptions } = options;
  const dataDir = join(dir, "amana");
  await copySystemData(dataDir, { withPostgres: options.databaseUrl === undefined });
  const kafkaNodes =
    events === "kafka" ? await startKafkaNodes(nodeCount, { dir: join(dir, "kafka"), progress: silentProgress }) : [];
  // Kills Kafka at the end. A graceful stop is not necessary, because its data is deleted.
  for (const node of kafkaNodes) stack.defer(() => node.kill());
  const system = await startSystem({
    dir: dataDir,
    events: events === "kafka" ? "kafka" : "direct",
    brokers: kafkaNodes.length > 0 ? kafkaNodes.map(({ brokers }) => brokers).join(",") : undefined,
    durable: false,
    ...systemOptions,
    env: {
      ...env,
      // Tests send more requests than the limits of a business permit.
      gateway: {
        RATE_LIMIT_PER_SECOND: "0",
        RATE_LIMIT_FAILED_AUTH_PER_MINUTE: "0",
        RATE_LIMIT_KYC_PER_SECOND: "0",
        RATE_LIMIT_REFUND_PER_SECOND: "0",
        RATE_LIMIT_CREATION_PER_SECOND: "0",
        RATE_LIMIT_SEARCH_PER_SECOND: "0",
        RATE_LIMIT_KEYLESS_PER_SECOND: "0",
        RATE_LIMIT_CHECKOUT_PER_MINUTE: "0",
        RATE_LIMIT_CHECKOUT_LINK_PER_SECOND: "0",
        // All connections of a test come from the same address.
        CONNECTIONS_PER_NETWORK_MAX: "0",
        ...env.gateway,
      },
      payments: { REFUND_CHECK_SECONDS: "0.5,1,1", REFUND_RESEND_AFTER_SECONDS: "2", SATIM_TIMEOUT_MS: "2000", ...env.payments },
      // Tests leave applications open. kyc soon polls them rarely, because their polls add up.
      kyc: { KYC_CHECK_SECONDS: "1,1,2,2,4,8,15", KYC_CATCH_UP_SECONDS: "1", KYC_PROVIDER_TIMEOUT_MS: "2000", ...env.kyc },
      sandbox: { KYC_CALLBACK_RETRY_SECONDS: "0.5,1,2,2,2", ...env.sandbox },
      webhooks: { RETRY_SCHEDULE_SECONDS: "0.5,1,2,2,2,2,2", ...env.webhooks },
    },
  });
  stack.use(system);
  const resources = stack.move();
  return { system, dir, kafka: kafkaNodes[0], kafkaNodes, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

type WebhookEvent = NonNullable<Parameters<Amana["webhookEndpoints"]["create"]>[0]["events"]>[number];

/** Creates an instance of the client library. By default, it does not retry requests. */
export const createClient = (system: System, apiKey: string, options: { retries?: number; timeoutMs?: number } = {}) =>
  new Amana({ baseUrl: system.gatewayUrl, apiKey, retries: 0, ...options });

/**
 * Creates a business with a webhook receiver for `events` or, without `events`, for the default
 * types. `amana` is the client library. `call` sends requests for tests that need the status,
 * headers or bytes of a response.
 */
export async function aBusiness(system: System, name = "Épicerie", events?: readonly WebhookEvent[]) {
  const { id, api_key } = await createClient(system, system.adminKey).businesses.create({ name });
  const key = String(api_key);
  const amana = createClient(system, key);
  const call = apiCaller(system.gatewayUrl, key);
  const receiver = await startReceiver();
  const endpoint = await amana.webhookEndpoints.create({ url: receiver.url, ...(events && { events: [...events] }) });
  const secret = String(endpoint.secret);
  receiver.useSecret(secret);
  return { id, key, amana, call, receiver, endpointId: endpoint.id, secret };
}

export type TestBusiness = Awaited<ReturnType<typeof aBusiness>>;

export const anOrder = { amount: "5000.00", success_url: "https://shop.example/merci", fail_url: "https://shop.example/desole" };

export { aPerson } from "@amana/dev-env/demo/a-person";
export { copyPostgresData } from "./system-data.ts";

/** Creates a payment and pays it at the sandbox. */
export async function aPaidPayment(system: System, business: TestBusiness): Promise<{ id: string; orderId: string }> {
  const created = await business.amana.payments.create(anOrder);
  const orderId = String(created.processor_order_id);
  const { redirect_url } = (await callSandbox(system, "POST", `/sandbox/payments/${orderId}/pay`, validCard)) as {
    redirect_url: string;
  };
  const returned = await request(redirect_url, { headersTimeout: 20_000 });
  await returned.body.dump();
  return { id: created.id, orderId };
}

/** Calls the control API of the sandbox. */
export async function callSandbox(
  system: System,
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: object,
): Promise<unknown> {
  const response = await request(`${system.sandboxUrl}${path}`, {
    method,
    ...(body ? { headers: { "content-type": "application/json" }, body: JSON.stringify(body) } : {}),
  });
  const text = await response.body.text();
  if (response.statusCode >= 400) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

/** Returns the number of refund calls for an order and the refunded amount at the processor. */
export async function readProcessorView(
  system: System,
  orderId: string,
): Promise<{ refundedAmount: number; refundCalls: number }> {
  const view = (await callSandbox(system, "GET", `/sandbox/payments/${orderId}`)) as {
    refundedAmount: number;
    calls: { operation: string }[];
  };
  return {
    refundedAmount: Number(view.refundedAmount),
    refundCalls: view.calls.filter(({ operation }) => operation === "refund").length,
  };
}
