import { createHash } from "node:crypto";
import { createWriteStream, globSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { request } from "undici";
import { type Databases, ensureDatabases } from "./databases.ts";
import { DevEnvError } from "./dev-env-error.ts";
import { type EventChoice, type EventTransport, startEventTransport } from "./event-transport.ts";
import { freePort, requireFreePort } from "./free-port.ts";
import { requireNotRunning, stopLeftoverServices, writeProcesses } from "./leftover-services.ts";
import { startPostgres } from "./postgres.ts";
import { type Progress, silentProgress } from "./progress.ts";
import { readSecrets } from "./secrets.ts";
import { seedBusiness } from "./seed.ts";
import { migrateService, type ServiceProcess, serviceProcess } from "./service-process.ts";
import { loopbackUrl, type ServiceName, services, type Wiring } from "./services.ts";

export interface SystemOptions {
  /** Holds all data, logs and secrets of this system. */
  readonly dir: string;
  /** Of the gateway and the sandbox; free ones when absent. */
  readonly port?: number;
  readonly sandboxPort?: number;
  readonly events: EventChoice;
  /** Brokers that already run. */
  readonly brokers?: string | undefined;
  /** A PostgreSQL that already runs; its role may create roles and databases. */
  readonly databaseUrl?: string | undefined;
  /** False trades the data's safety against a crash of the machine for speed. */
  readonly durable?: boolean;
  /** Starts services again that end by themselves. */
  readonly supervised?: boolean;
  /** Settings that go before those made here. */
  readonly env?: Partial<Record<ServiceName, Record<string, string>>>;
  readonly progress?: Progress;
  /** Ends a start that is under way; see startSystemUnlessStopped. */
  readonly signal?: AbortSignal;
}

export interface System extends AsyncDisposable {
  readonly gatewayUrl: string;
  readonly sandboxUrl: string;
  readonly adminKey: string;
  readonly business: { readonly id: string; readonly api_key: string };
  /** "kafka" or "direct", and in one line how and why. */
  readonly events: { readonly mode: "kafka" | "direct"; readonly how: string };
  readonly services: Readonly<Record<ServiceName, ServiceProcess>>;
  /** Of the roles that the services run as, and of those that own the databases. */
  readonly databaseUrls: Readonly<Record<string, string>>;
  readonly ownerDatabaseUrls: Readonly<Record<string, string>>;
  /** Where each service listens. */
  readonly rpcPorts: Readonly<Record<ServiceName, number>>;
  /** The settings a service runs with, for a second replica of it. */
  envOf(name: ServiceName): Record<string, string>;
  readonly logDir: string;
  /** Waits until the gateway says that everything behind it answers. */
  ready(): Promise<void>;
}

const readyTimeoutMs = 60_000;
const root = join(import.meta.dirname, "..", "..", "..");

/**
 * Starts everything: PostgreSQL, the event transport, every service as its own process, migrations, the seed. What
 * cannot be started is a DevEnvError that says what to do, after everything that did start was stopped again.
 */
export async function startSystem(options: SystemOptions): Promise<System> {
  const progress = options.progress ?? silentProgress;
  const dir = resolve(options.dir);
  await using stack = new AsyncDisposableStack();

  await requireNotRunning(dir);
  const secrets = await readSecrets(dir);
  const logDir = join(dir, "logs");
  await mkdir(logDir, { recursive: true });
  // What a killed run left behind may still hold the ports.
  await stopLeftoverServices(dir);
  if (options.port !== undefined) await requireFreePort(options.port, "the gateway", "Set PORT to another one");
  if (options.sandboxPort !== undefined)
    await requireFreePort(options.sandboxPort, "the sandbox", "Set SANDBOX_PORT to another one");

  const postgresLog = createWriteStream(join(logDir, "postgres.log"), { flags: "a" });
  stack.defer(() => void postgresLog.end());
  const [databases, events] = await settleBoth(startDatabases(), startEvents());
  options.signal?.throwIfAborted();

  const ports = Object.fromEntries(
    await Promise.all(services.map(async ({ name }) => [name, fixedPort(name) ?? (await freePort())] as const)),
  ) as Record<ServiceName, number>;
  const wiring: Wiring = {
    secrets,
    databaseUrls: databases.urls,
    ports,
    brokers: events.mode === "kafka" ? events.brokers : undefined,
    sandboxDir: join(dir, "sandbox"),
  };
  const envOf = (name: ServiceName) => ({
    ...services.find((service) => service.name === name)?.env(wiring),
    ...options.env?.[name],
  });

  await migrateAll();
  options.signal?.throwIfAborted();

  let remembering = Promise.resolve();
  const starting = progress.step("Services");
  const processes = Object.fromEntries(
    services.map(({ name }) => [
      name,
      serviceProcess({
        name,
        env: envOf(name),
        port: ports[name],
        logDir,
        supervised: options.supervised ?? false,
        onStart: rememberProcesses,
        onCrash: (crashed, output) =>
          progress.print(`✗ ${crashed} ended by itself${options.supervised ? " and is started again" : ""}:\n${output}`),
      }),
    ]),
  ) as Record<ServiceName, ServiceProcess>;
  for (const { name } of services) stack.defer(() => processes[name].stop());
  const gatewayUrl = loopbackUrl(ports.gateway);
  try {
    await Promise.all(services.map(({ name }) => processes[name].start()));
    await ready();
  } catch (error) {
    starting.fail((error as Error).message.split("\n")[0] ?? "");
    throw error;
  }
  starting.done(services.map(({ name }) => name).join(", "));
  const business = await seedBusiness(dir, secrets, gatewayUrl);
  const running = stack.move();

  return {
    gatewayUrl,
    sandboxUrl: loopbackUrl(ports.sandbox),
    adminKey: secrets.adminKey,
    business,
    events: { mode: events.mode, how: events.how },
    services: processes,
    databaseUrls: databases.urls,
    ownerDatabaseUrls: databases.ownerUrls,
    rpcPorts: ports,
    envOf,
    logDir,
    ready,
    async [Symbol.asyncDispose]() {
      await running.disposeAsync();
      await writeProcesses(dir, []);
    },
  };

  /** One write after another, so that the last one, which knows them all, stands. */
  function rememberProcesses(): Promise<void> {
    const pids = () => Object.values(processes).flatMap((service) => service.pid() ?? []);
    remembering = remembering.then(() => writeProcesses(dir, pids()));
    return remembering;
  }

  function fixedPort(name: ServiceName): number | undefined {
    if (name === "gateway") return options.port;
    return name === "sandbox" ? options.sandboxPort : undefined;
  }

  async function startDatabases(): Promise<Databases> {
    const step = progress.step("PostgreSQL");
    try {
      let superuserUrl = options.databaseUrl;
      if (superuserUrl === undefined) {
        const postgres = await startPostgres({
          dataDir: join(dir, "postgres"),
          durable: options.durable ?? true,
          log: (line) => postgresLog.write(`${line}\n`),
        });
        stack.defer(() => postgres.stop());
        superuserUrl = postgres.superuserUrl;
        step.update(`${postgres.version} on port ${postgres.port}`);
      }
      const names = services.filter(({ hasDatabase }) => hasDatabase).map(({ name }) => name);
      const found = await ensureDatabases(superuserUrl, names, secrets.databasePassword);
      step.done(`on port ${new URL(superuserUrl).port}, databases ${names.join(", ")}`);
      return found;
    } catch (error) {
      step.fail((error as Error).message.split("\n")[0] ?? "");
      throw error;
    }
  }

  async function startEvents(): Promise<EventTransport> {
    const transport = await startEventTransport({
      choice: options.events,
      brokers: options.brokers,
      dir: join(dir, "kafka"),
      log: () => {},
      progress,
    });
    stack.defer(() => transport.stop());
    return transport;
  }

  /** Skips a service whose migrations this data folder has seen: each command costs a process. */
  async function migrateAll(): Promise<void> {
    const stampFile = join(dir, "migrated.json");
    const seen = await readFile(stampFile, "utf8").then(
      (text) => JSON.parse(text) as Record<string, string>,
      () => ({}) as Record<string, string>,
    );
    const stamps = await Promise.all(
      services
        .filter(({ hasDatabase }) => hasDatabase)
        .map(async ({ name }) => [name, `${await digestOfMigrations(name)} ${databases.clusterId}`] as const),
    );
    const due = stamps.filter(([name, stamp]) => seen[name] !== stamp);
    if (due.length === 0) return;
    const step = progress.step("Migrations");
    await Promise.all(due.map(([name]) => migrateService(name, { DATABASE_URL: databases.ownerUrls[name] ?? "" })));
    await writeFile(stampFile, `${JSON.stringify(Object.fromEntries(stamps))}\n`);
    step.done(due.map(([name]) => name).join(", "));
  }

  async function ready(): Promise<void> {
    const endsAtMs = performance.now() + readyTimeoutMs;
    for (;;) {
      options.signal?.throwIfAborted();
      const status = await request(`${gatewayUrl}/readyz`, { headersTimeout: 2_000, bodyTimeout: 2_000 })
        .then(async (answer) => {
          const text = await answer.body.text();
          return answer.statusCode === 200 ? "ready" : text;
        })
        .catch((error: Error) => error.message);
      const down = Object.values(processes).find((service) => !service.running());
      if (status === "ready" && !down) return;
      if (down && !options.supervised) {
        throw new DevEnvError(`${down.name} ended while starting:\n${down.recentOutput()}`, `Its whole log: ${down.logFile}`);
      }
      if (performance.now() > endsAtMs) {
        throw new DevEnvError(
          `The services are not ready after ${readyTimeoutMs / 1000} s: ${status}`,
          `Look into the logs in ${logDir}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

/** Both, or, once both have ended, the first failure: what did start is then known and can be stopped. */
async function settleBoth<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled([a, b]);
  if (first.status === "rejected") throw first.reason;
  if (second.status === "rejected") throw second.reason;
  return [first.value, second.value];
}

/** Of all that a service may list: its own, and those of every package. */
async function digestOfMigrations(service: string): Promise<string> {
  const hash = createHash("sha256");
  const files = globSync(`{packages/*,services/${service}}/migrations/*.sql`, { cwd: root });
  for (const file of files.sort()) hash.update(file).update(await readFile(join(root, file)));
  return hash.digest("hex").slice(0, 16);
}

/** Starts the system as startSystem does; gives undefined, with everything stopped again, when the signal came first. */
export async function startSystemUnlessStopped(options: SystemOptions): Promise<System | undefined> {
  try {
    return await startSystem(options);
  } catch (error) {
    if (options.signal?.aborted) return undefined;
    throw error;
  }
}

/** Throws away the data of a system that does not run. Throws DevEnvError, and keeps the data, while one does. */
export async function removeData(dir: string): Promise<void> {
  await requireNotRunning(dir);
  await rm(resolve(dir), { recursive: true, force: true });
}
