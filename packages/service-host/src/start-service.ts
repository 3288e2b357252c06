import {
  createOrm,
  hasTenantTables,
  isDatabaseReachable,
  isDatabaseUnavailable,
  keepPartitions,
  type MigrateOptions,
  type Orm,
  requireMigrated,
} from "@amana/database";
import { cleanKeys } from "@amana/idempotency";
import {
  consume,
  createTransport,
  deadLetterService,
  type RecordAction,
  recordAction,
  showOutbox,
  startRelay,
  type TopicHandler,
} from "@amana/messaging";
import { createRpcServer, openTls, type RpcServer, type ServedService, type Tls } from "@amana/rpc";
import { allTenants, type EnvSource, forTenant, type Logger, runProcess, startHourlyJobs } from "@amana/runtime";
import type { ServiceConfig } from "./service-config.ts";

interface Clock {
  now(): Date;
}

/** Parts from which a service creates its context. */
export interface ServiceParts<Config> {
  readonly config: Config;
  readonly orm: Orm;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Certificate for calls to other services. */
  readonly tls: Tls | undefined;
  /** Registers a resource, which is disposed when calls, jobs and consumers have ended. */
  use<T extends AsyncDisposable | Disposable>(resource: T): T;
}

/**
 * The parts that are specific to a service. `startService` adds the parts that all services have.
 */
export interface Service<Config extends ServiceConfig, Context extends { readonly orm: Orm }> {
  /** Name of the service, also the audience of caller tokens and the source of its events. */
  readonly name: string;
  readonly database: Omit<MigrateOptions, "url">;
  /** Reads the settings, by default from the environment. Throws SettingsError. */
  readConfig(source?: EnvSource): Config;
  /** Creates the dependencies of RPCs, jobs and consumers. */
  createContext(parts: ServiceParts<Config>): Context | Promise<Context>;
  rpcServices(context: Context): readonly ServedService[];
  /** Returns the handlers of other services' events. */
  topicHandlers?(context: Context): readonly TopicHandler[];
  /** Starts the background jobs. */
  jobs?(context: Context, config: Config): readonly (AsyncDisposable | Disposable)[];
  /**
   * Records actions of operators on dead-lettered messages. By default, emits an event for the
   * audit trail.
   */
  readonly recordAction?: RecordAction;
}

export interface RunningService<Context> extends AsyncDisposable {
  readonly url: string;
  readonly context: Context;
  /** Returns whether the service accepts calls and its database is reachable and migrated. */
  isReady(): Promise<boolean>;
}

export interface StartOptions<Context> {
  readonly clock?: Clock;
  /** Replaces members of the context, so that a test can simulate external systems. */
  readonly contextOverrides?: Partial<Context>;
  /**
   * Whether relay and jobs run. False in tests, because both would change rows that a test checks.
   */
  readonly runsBackgroundWork?: boolean;
}

/**
 * Starts a service. Disposing stops its calls first and its database connections last. Throws
 * StartupError when the database lacks a migration of this version.
 */
export async function startService<Config extends ServiceConfig, Context extends { readonly orm: Orm }>(
  service: Service<Config, Context>,
  config: Config,
  logger: Logger,
  { clock = { now: () => new Date() }, contextOverrides, runsBackgroundWork = true }: StartOptions<Context> = {},
): Promise<RunningService<Context>> {
  await using stack = new AsyncDisposableStack();
  const { name } = service;
  const forTenants = hasTenantTables(service.database.migrations);
  const orm = await createOrm({ url: config.databaseUrl, forTenants, ...service.database }, logger);
  stack.defer(() => orm.close());
  const isReady = databaseReadiness(orm, service.database, logger, await requireMigrated(orm, service.database.migrations));
  const tls = config.tls && stack.use(await openTls(config.tls, logger));
  const transport = stack.use(await createTransport(config.events, { clientId: name, tls, logger }));
  const use: ServiceParts<Config>["use"] = (resource) => stack.use(resource);
  const parts = { config, orm, logger, clock, tls, use };
  const context = { ...(await forTenant(allTenants, async () => await service.createContext(parts))), ...contextOverrides };

  const topicHandlers = service.topicHandlers?.(context) ?? [];
  for (const topicHandler of topicHandlers) {
    stack.use(await consume(topicHandler, { orm, transport, logger, retrySeconds: config.eventRetrySeconds }));
  }
  if (runsBackgroundWork) {
    if (config.emits.length > 0) {
      stack.use(startRelay({ databaseUrl: config.databaseUrl, topics: config.emits, transport, logger }));
      stack.use(showOutbox(orm, config.emits));
    }
    const jobs = [...startHourlyJobs({ orm, logger }, { cleanKeys, keepPartitions }), ...(service.jobs?.(context, config) ?? [])];
    for (const job of jobs) stack.use(job);
  }

  const record = service.recordAction ?? recordAction(name);
  const server: RpcServer = stack.use(
    await createRpcServer({
      services: [
        ...service.rpcServices(context),
        ...(topicHandlers.length > 0 ? [deadLetterService({ orm, topicHandlers, record, logger })] : []),
        ...transport.services,
      ],
      host: config.host,
      port: config.rpcPort,
      audience: name,
      callerKeys: config.callerKeys,
      tls,
      logger,
      isUnavailable: isDatabaseUnavailable,
      isReady,
    }),
  );
  const running = stack.move();
  return { url: server.url, context, isReady: () => server.isReady(), [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/**
 * Returns a readiness check. A database that was unreachable at start may lack migrations. The
 * check requires these migrations before the service is ready, so that a rollout does not continue
 * without them.
 */
function databaseReadiness(orm: Orm, { migrations }: Service<never, never>["database"], logger: Logger, isMigrated: boolean) {
  return async () => {
    isMigrated ||= await requireMigrated(orm, migrations).catch((error: unknown) => {
      logger.error({ err: error }, "service not ready, migrations of the database do not match this version");
      return false;
    });
    return isMigrated && (await isDatabaseReachable(orm));
  };
}

/** Runs a service as a process until it is stopped. A service's `src/main.ts` calls it. */
export async function runService<Config extends ServiceConfig, Context extends { readonly orm: Orm }>(
  service: Service<Config, Context>,
): Promise<void> {
  await runProcess(service.name, service.readConfig, (config, logger) => startService(service, config, logger));
}
