import { createOrm, hasTenantTables, type Orm } from "@amana/database";
import { createTransport, type Message, type Transport } from "@amana/messaging";
import type { RpcChannel } from "@amana/rpc";
import { createLogger, type Logger } from "@amana/runtime";
import {
  connectForTest,
  copyTestDatabase,
  testEventKeys,
  testEventSettings,
  testRpcSettings,
  withServiceRole,
} from "@amana/testing";
import type { ServiceConfig } from "../src/service-config.ts";
import { type RunningService, type Service, type StartOptions, startService } from "../src/start-service.ts";

export const topics = ["payments.v1", "kyc.v1", "audit.v1"];

export interface TestServiceOptions<Context> extends StartOptions<Context> {
  /** Required settings of the service, and settings that differ from the defaults. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Database of a running service, to start a replica of it. Default: a new database. */
  readonly databaseUrl?: string;
  readonly logger?: Logger;
}

export interface TestService<Context> extends RunningService<Context> {
  readonly databaseUrl: string;
  /** Calls the service as the gateway does. */
  readonly channel: RpcChannel;
  sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Delivers messages to the service's consumers. Resolves when their effects are committed. */
  publish(topic: string, ...messages: Message[]): Promise<void>;
}

/**
 * Starts a service as in production, on a loopback port and with its own database. Relay and jobs
 * run only when `runsBackgroundWork` is true: a test starts the jobs that it checks, and reads
 * events from the outbox.
 */
export async function startTestService<Config extends ServiceConfig, Context extends { readonly orm: Orm }>(
  service: Service<Config, Context>,
  { settings, runsBackgroundWork = false, logger = testLogger(), ...options }: TestServiceOptions<Context> = {},
): Promise<TestService<Context>> {
  await using stack = new AsyncDisposableStack();
  const isOwn = options.databaseUrl === undefined;
  const databaseUrl = options.databaseUrl ?? stack.use(await copyTestDatabase(service.name, service.database)).url;
  const config = service.readConfig({
    RPC_PORT: "0",
    DATABASE_URL: isOwn && hasTenantTables(service.database.migrations) ? withServiceRole(databaseUrl) : databaseUrl,
    ...testEventSettings(...topics),
    ...testRpcSettings,
    ...settings,
  });
  const running = stack.use(await startService(service, config, logger, { ...options, runsBackgroundWork }));
  const { url, context } = running;
  const channel = stack.use(connectForTest([url], service.name));
  const transport = stack.use(await createTransportTo(url));
  // Connects as the owner of the tables, so that tests can read the rows of all tenants.
  const owner = await createOrm({ url: databaseUrl, ...service.database, poolMax: 2 }, createLogger("test", "silent"));
  stack.defer(() => owner.close());
  const started = stack.move();
  return {
    url,
    context,
    databaseUrl,
    isReady: () => running.isReady(),
    channel,
    sql: async <Row>(text: string, values: unknown[] = []) => await owner.em.fork().execute<Row[]>(text, values),
    publish: (topic, ...messages) => transport.publish(topic, messages),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const testLogger = () => createLogger("test", process.env["TEST_LOG_LEVEL"] ?? "silent");

/**
 * Creates a transport that delivers events to the service at this URL, like an emitting service.
 */
export function createTransportTo(url: string): Promise<Transport> {
  const subscribers = Object.fromEntries(topics.map((topic) => [topic, [url]]));
  const logger = createLogger("test", "silent");
  return createTransport({ kind: "direct", subscribers, keys: testEventKeys(...topics) }, { clientId: "test", logger });
}
