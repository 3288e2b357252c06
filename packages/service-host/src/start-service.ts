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

export interface Clock {
  now(): Date;
}

/** What a service has from the start on, to make its context with. */
export interface ServiceParts<Config> {
  readonly config: Config;
  readonly orm: Orm;
  readonly logger: Logger;
  readonly clock: Clock;
  /** For calls to other services. */
  readonly tls: Tls | undefined;
  /** Disposes of it when the service stops, after its calls, jobs and consumers have ended. */
  use<T extends AsyncDisposable | Disposable>(resource: T): T;
}

/** What a service is made of, and no other has: the rest stands in `startService`. */
export interface Service<Config extends ServiceConfig, Context extends { readonly orm: Orm }> {
  /** Also what callers' tokens are made for, and where its events say that they come from. */
  readonly name: string;
  readonly database: Omit<MigrateOptions, "url">;
  /** The process's environment unless given; throws SettingsError. */
  readConfig(source?: EnvSource): Config;
  /** What the use cases work with. */
  createContext(parts: ServiceParts<Config>): Context | Promise<Context>;
  rpcServices(context: Context): readonly ServedService[];
  /** What becomes of other services' events. */
  consumptions?(context: Context): readonly TopicHandler[];
  /** Starts what is done without being asked for. */
  jobs?(context: Context, config: Config): readonly (AsyncDisposable | Disposable)[];
  /** Writes down what operators do with dead letters; by event unless given. */
  readonly recordAction?: RecordAction;
}

export interface RunningService<Context> extends AsyncDisposable {
  readonly url: string;
  readonly context: Context;
  /** Whether it takes calls, its database included. */
  isReady(): Promise<boolean>;
}

export interface StartOptions<Context> {
  readonly clock?: Clock;
  /** Goes before what `createContext` makes: a test's stand-in for the world outside. */
  readonly replace?: Partial<Context>;
  /** False: neither relay nor jobs run, so that a test finds what it looks at as it was left. */
  readonly background?: boolean;
}

/** Starts a service on a migrated database. Disposing stops it: calls first, the database last. */
export async function startService<Config extends ServiceConfig, Context extends { readonly orm: Orm }>(
  service: Service<Config, Context>,
  config: Config,
  logger: Logger,
  { clock = { now: () => new Date() }, replace, background = true }: StartOptions<Context> = {},
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
  const context = { ...(await forTenant(allTenants, async () => await service.createContext(parts))), ...replace };

  const consumptions = service.consumptions?.(context) ?? [];
  for (const consumption of consumptions) {
    stack.use(await consume(consumption, { orm, transport, logger, retrySeconds: config.eventRetrySeconds }));
  }
  if (background) {
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
        ...(consumptions.length > 0 ? [deadLetterService({ orm, consumptions, record })] : []),
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
 * A database that was away at the start may be older than this version: it is looked at again
 * before the service counts as ready, so that no rollout goes on without its migration.
 */
function databaseReadiness(orm: Orm, { migrations }: Service<never, never>["database"], logger: Logger, isMigrated: boolean) {
  return async () => {
    isMigrated ||= await requireMigrated(orm, migrations).catch((error: unknown) => {
      logger.error({ err: error }, "not ready: the database is not of this version");
      return false;
    });
    return isMigrated && (await isDatabaseReachable(orm));
  };
}

/** The life of a service's process: `src/main.ts`. */
export async function runService<Config extends ServiceConfig, Context extends { readonly orm: Orm }>(
  service: Service<Config, Context>,
): Promise<void> {
  await runProcess(service.name, service.readConfig, (config, logger) => startService(service, config, logger));
}
