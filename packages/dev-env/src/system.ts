import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Databases, ensureDatabases } from "./databases.ts";
import { DevEnvError } from "./dev-env-error.ts";
import { type EventChoice, startEventTransport } from "./event-transport.ts";
import { freePort, requireFreePort } from "./free-port.ts";
import { writeProcesses } from "./leftover-services.ts";
import { stopLeftovers } from "./leftovers.ts";
import { migrateAll } from "./migrate-all.ts";
import { startPostgres } from "./postgres.ts";
import { inStep, type Progress, silentProgress } from "./progress.ts";
import { readSecrets } from "./secrets.ts";
import { seedBusiness } from "./seed.ts";
import { type ServiceProcess, serviceProcess } from "./service-process.ts";
import { databaseOwners, loopbackUrl, type ServiceName, serviceNames, settingsOf, type Wiring } from "./services.ts";
import { untilReady } from "./until-ready.ts";

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
  /** Ends a start that is under way, which then throws. */
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
  /** Where each service shows its metrics. */
  readonly metricsUrls: Readonly<Record<ServiceName, string>>;
  /** The settings a service runs with, for a second replica of it. */
  envOf(name: ServiceName): Record<string, string>;
  readonly logDir: string;
  /** Waits until the gateway says that everything behind it answers. */
  ready(): Promise<void>;
}

/**
 * Starts everything: PostgreSQL, the event transport, every service as its own process, migrations,
 * the seed. What cannot be started is a DevEnvError that says what to do, after everything that did
 * start was stopped again.
 */
export async function startSystem(options: SystemOptions): Promise<System> {
  const progress = options.progress ?? silentProgress;
  const dir = resolve(options.dir);
  const { signal } = options;
  requireDistinctPorts(options);
  await using stack = new AsyncDisposableStack();

  // What a killed run left behind may still hold the ports.
  await stopLeftovers(dir);
  const secrets = await readSecrets(dir);
  const logDir = join(dir, "logs");
  await mkdir(logDir, { recursive: true });
  if (options.port !== undefined) await requireFreePort(options.port, "the gateway", "Set PORT to another one");
  if (options.sandboxPort !== undefined)
    await requireFreePort(options.sandboxPort, "the sandbox", "Set SANDBOX_PORT to another one");

  const starting = [
    startDatabases(options, { dir, logDir, progress, stack, password: secrets.databasePassword }),
    startEventTransport({ choice: options.events, brokers: options.brokers, dir: join(dir, "kafka"), progress, signal }).then(
      (transport) => stack.adopt(transport, () => transport.stop()),
    ),
  ] as const;
  // Where one fails, what the other starts can be stopped only when it has ended.
  await Promise.allSettled(starting);
  signal?.throwIfAborted();
  const [databases, events] = await Promise.all(starting);

  const ports = await choosePorts(options);
  const wiring: Wiring = {
    secrets,
    databaseUrls: databases.urls,
    ports,
    brokers: events.mode === "kafka" ? events.brokers : undefined,
    sandboxDir: join(dir, "sandbox"),
  };
  const envOf = (name: ServiceName) => ({ ...settingsOf(name, wiring), ...options.env?.[name] });

  await migrateAll(dir, databases, progress, signal);
  signal?.throwIfAborted();

  const metricsPorts = await choosePorts({});
  // Not among the settings for a second replica: each needs a port of its own.
  const ownEnvOf = (name: ServiceName) => ({ METRICS_PORT: String(metricsPorts[name]), ...envOf(name) });
  const processes = createProcesses(options, { dir, logDir, progress, ports, envOf: ownEnvOf });
  for (const name of serviceNames) stack.defer(() => processes[name].stop());
  const gatewayUrl = loopbackUrl(ports.gateway);
  const ready = () => untilReady(gatewayUrl, Object.values(processes), { ...options, logDir });
  await inStep(progress, "Services", async (step) => {
    await Promise.race([Promise.all(serviceNames.map((name) => processes[name].start())), aborted(signal)]);
    await ready();
    step.done(serviceNames.join(", "));
  });
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
    metricsUrls: recordOf((name) => `${loopbackUrl(metricsPorts[name])}/metrics`),
    envOf,
    logDir,
    ready,
    async [Symbol.asyncDispose]() {
      await running.disposeAsync();
      await writeProcesses(dir, []);
    },
  };
}

interface Starting {
  readonly dir: string;
  readonly logDir: string;
  readonly progress: Progress;
}

async function startDatabases(
  options: SystemOptions,
  { dir, logDir, progress, stack, password }: Starting & { stack: AsyncDisposableStack; password: string },
): Promise<Databases> {
  return await inStep(progress, "PostgreSQL", async (step) => {
    let superuserUrl = options.databaseUrl;
    if (superuserUrl === undefined) {
      const log = createWriteStream(join(logDir, "postgres.log"), { flags: "a" });
      stack.defer(() => void log.end());
      const postgres = await startPostgres({
        dataDir: join(dir, "postgres"),
        durable: options.durable ?? true,
        signal: options.signal,
        log: (line) => log.write(`${line}\n`),
      });
      stack.defer(() => postgres.stop());
      superuserUrl = postgres.superuserUrl;
      step.update(`${postgres.version} on port ${postgres.port}`);
    }
    const found = await ensureDatabases(superuserUrl, databaseOwners, password);
    step.done(`on port ${new URL(superuserUrl).port}, databases ${databaseOwners.join(", ")}`);
    return found;
  });
}

const recordOf = <T>(make: (name: ServiceName) => T): Record<ServiceName, T> =>
  Object.fromEntries(serviceNames.map((name) => [name, make(name)])) as Record<ServiceName, T>;

async function choosePorts({
  port,
  sandboxPort,
}: Pick<SystemOptions, "port" | "sandboxPort">): Promise<Record<ServiceName, number>> {
  const fixed: Partial<Record<ServiceName, number | undefined>> = { gateway: port, sandbox: sandboxPort };
  const chosen = serviceNames.map(async (name) => [name, fixed[name] ?? (await freePort())] as const);
  return Object.fromEntries(await Promise.all(chosen)) as Record<ServiceName, number>;
}

/** Every service as a process that is not started yet. The data folder remembers those that are. */
function createProcesses(
  { supervised = false }: SystemOptions,
  { dir, logDir, progress, ports, envOf }: Starting & Pick<System, "envOf"> & { ports: Record<ServiceName, number> },
): Record<ServiceName, ServiceProcess> {
  let remembering = Promise.resolve();
  const entries = serviceNames.map((name) => [
    name,
    serviceProcess({
      name,
      env: envOf(name),
      port: ports[name],
      logDir,
      supervised,
      // One write after another, so that the last one, which knows them all, stands.
      onStart() {
        const pids = () => Object.values(processes).flatMap((service) => service.pid() ?? []);
        remembering = remembering.then(() => writeProcesses(dir, pids()));
        return remembering;
      },
      onCrash: (crashed, output) =>
        progress.print(`✗ ${crashed} ended by itself${supervised ? " and is started again" : ""}:\n${output}`),
    }),
  ]);
  const processes = Object.fromEntries(entries) as Record<ServiceName, ServiceProcess>;
  return processes;
}

function requireDistinctPorts({ port, sandboxPort }: SystemOptions): void {
  if (port === undefined || port !== sandboxPort) return;
  throw new DevEnvError(`PORT and SANDBOX_PORT are both ${port}.`, "Set one of them to another port.");
}

/** Rejects when the signal aborts. */
const aborted = (signal: AbortSignal | undefined) =>
  new Promise<never>((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
