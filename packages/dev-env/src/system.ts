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
import { createServiceProcess, type ServiceProcess } from "./service-process.ts";
import {
  type KycProvider,
  kycProviders,
  loopbackUrl,
  type ServiceName,
  type SettingsInput,
  serviceNames,
  servicesWithDatabase,
  settingsOf,
} from "./services.ts";
import { waitUntilReady } from "./wait-until-ready.ts";

export interface SystemOptions {
  /** Verification provider of new applications (KYC_PROVIDER). Default: the provider `port`. */
  readonly kycProvider?: string;
  /** Folder of all data, logs and secrets. */
  readonly dir: string;
  /** Port of the gateway. Default: a free port. */
  readonly port?: number;
  /** Port of the sandbox. Default: a free port. */
  readonly sandboxPort?: number;
  readonly events: EventChoice;
  /** Running brokers. Without them, `startSystem` may start a Kafka. */
  readonly brokers?: string;
  /**
   * A running PostgreSQL, with a role that can create roles and databases. Without it,
   * `startSystem` starts a PostgreSQL.
   */
  readonly databaseUrl?: string;
  /** False is faster, but a crash of the machine can lose data. Default: true. */
  readonly durable?: boolean;
  /** True to restart services that end unexpectedly. */
  readonly supervised?: boolean;
  /**
   * Services to start. The caller starts the other services. Default: all services. Without the
   * gateway, no business is created, so `business` contains empty texts.
   */
  readonly started?: readonly ServiceName[];
  /** Settings that override the generated settings. */
  readonly env?: Partial<Record<ServiceName, Record<string, string>>>;
  readonly progress?: Progress;
  /** Cancels a start that is in progress; the start then throws. */
  readonly signal?: AbortSignal;
}

export interface System extends AsyncDisposable {
  readonly gatewayUrl: string;
  readonly sandboxUrl: string;
  readonly adminKey: string;
  readonly business: { readonly id: string; readonly api_key: string };
  /**
   * Transport of the events. `how` describes the transport and the reason for the choice in one
   * line.
   */
  readonly events: { readonly mode: "kafka" | "direct"; readonly how: string };
  readonly services: Readonly<Record<ServiceName, ServiceProcess>>;
  /** URLs with the runtime roles of the services. */
  readonly databaseUrls: Readonly<Record<string, string>>;
  /** URLs with the roles that own the databases. */
  readonly ownerDatabaseUrls: Readonly<Record<string, string>>;
  readonly rpcPorts: Readonly<Record<ServiceName, number>>;
  readonly metricsUrls: Readonly<Record<ServiceName, string>>;
  /** Returns the settings of a service, with which a caller can start a second replica. */
  envOf(name: ServiceName): Record<string, string>;
  readonly logDir: string;
  /** Waits until the gateway reports that all services are ready. */
  waitUntilReady(): Promise<void>;
}

function parseKycProvider(value: string | undefined): KycProvider {
  const name = kycProviders.find((known) => known === (value || "port"));
  if (name) return name;
  throw new DevEnvError(`KYC_PROVIDER has the unknown value "${value}".`, `Set it to ${kycProviders.join(", ")}, or remove it.`);
}

/**
 * Starts PostgreSQL and the event transport, runs the migrations, starts each service in its own
 * process, and seeds a business. If a part cannot start, stops the other parts and throws
 * DevEnvError.
 */
export async function startSystem(options: SystemOptions): Promise<System> {
  const progress = options.progress ?? silentProgress;
  const dir = resolve(options.dir);
  const { signal, started = serviceNames } = options;
  const kycProvider = parseKycProvider(options.kycProvider);
  const { port, sandboxPort } = options;
  if (port !== undefined && port === sandboxPort)
    throw new DevEnvError(`PORT and SANDBOX_PORT are both ${port}.`, "Set one of them to another port.");
  await using stack = new AsyncDisposableStack();

  // Processes of a killed run may still use the ports.
  await stopLeftovers(dir);
  const secrets = await readSecrets(dir);
  const logDir = join(dir, "logs");
  await mkdir(logDir, { recursive: true });
  if (port !== undefined) await requireFreePort(port, "the gateway", "Set PORT to another port");
  if (sandboxPort !== undefined) await requireFreePort(sandboxPort, "the sandbox", "Set SANDBOX_PORT to another port");

  const starting = [
    startDatabases(options, { dir, logDir, progress, stack, password: secrets.databasePassword }),
    startEventTransport({ choice: options.events, brokers: options.brokers, dir: join(dir, "kafka"), progress, signal }).then(
      (transport) => stack.adopt(transport, () => transport.stop()),
    ),
  ] as const;
  // Waits for both starts. If one of them fails, the server of the other start can be stopped only
  // after that start has finished.
  await Promise.allSettled(starting);
  signal?.throwIfAborted();
  const [databases, events] = await Promise.all(starting);

  const ports = await choosePorts({ gateway: port, sandbox: sandboxPort });
  const wiring: SettingsInput = {
    secrets,
    databaseUrls: databases.urls,
    ports,
    brokers: events.mode === "kafka" ? events.brokers : undefined,
    sandboxDir: join(dir, "sandbox"),
    smtpPort: await freePort(),
    kycProvider,
  };
  const envOf = (name: ServiceName) => ({ ...settingsOf(name, wiring), ...options.env?.[name] });

  await migrateAll(dir, databases, progress, signal);
  signal?.throwIfAborted();

  const metricsPorts = await choosePorts({});
  // METRICS_PORT is not in envOf, because a second replica needs another port.
  const ownEnvOf = (name: ServiceName) => ({ METRICS_PORT: String(metricsPorts[name]), ...envOf(name) });
  const processes = createProcesses(options, { dir, logDir, progress, ports, envOf: ownEnvOf });
  for (const name of serviceNames) stack.defer(() => processes[name].stop());
  const gatewayUrl = loopbackUrl(ports.gateway);
  const waitForServices = () => waitUntilReady(gatewayUrl, Object.values(processes), { ...options, logDir });
  await inStep(progress, "Services", async (step) => {
    await Promise.race([Promise.all(started.map((name) => processes[name].start())), rejectOnAbort(signal)]);
    if (started.includes("gateway")) await waitForServices();
    step.done(started.join(", "));
  });
  const business = started.includes("gateway") ? await seedBusiness(dir, secrets, gatewayUrl) : { id: "", api_key: "" };
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
    waitUntilReady: waitForServices,
    async [Symbol.asyncDispose]() {
      await running.disposeAsync();
      await writeProcesses(dir, []);
    },
  };
}

interface StartContext {
  readonly dir: string;
  readonly logDir: string;
  readonly progress: Progress;
}

async function startDatabases(
  options: SystemOptions,
  { dir, logDir, progress, stack, password }: StartContext & { stack: AsyncDisposableStack; password: string },
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
    const databases = await ensureDatabases(superuserUrl, servicesWithDatabase, password);
    step.done(`on port ${new URL(superuserUrl).port}, databases ${servicesWithDatabase.join(", ")}`);
    return databases;
  });
}

const recordOf = <T>(create: (name: ServiceName) => T): Record<ServiceName, T> =>
  Object.fromEntries(serviceNames.map((name) => [name, create(name)])) as Record<ServiceName, T>;

async function choosePorts(fixed: Partial<Record<ServiceName, number | undefined>>): Promise<Record<ServiceName, number>> {
  const chosen = serviceNames.map(async (name) => [name, fixed[name] ?? (await freePort())] as const);
  return Object.fromEntries(await Promise.all(chosen)) as Record<ServiceName, number>;
}

/**
 * Creates the processes without starting them. Each start stores the process ids in the data
 * folder.
 */
function createProcesses(
  { supervised = false }: SystemOptions,
  { dir, logDir, progress, ports, envOf }: StartContext & Pick<System, "envOf"> & { ports: Record<ServiceName, number> },
): Record<ServiceName, ServiceProcess> {
  let writing = Promise.resolve();
  const processes: Record<ServiceName, ServiceProcess> = recordOf((name) =>
    createServiceProcess({
      name,
      env: envOf(name),
      port: ports[name],
      logDir,
      supervised,
      // Writes are serialized, so that the last file contains all process ids.
      onStart() {
        const pids = () => Object.values(processes).flatMap((service) => service.pid() ?? []);
        writing = writing.then(() => writeProcesses(dir, pids()));
        return writing;
      },
      onCrash: (crashed, output) =>
        progress.print(`✗ ${crashed} ended unexpectedly${supervised ? " and is restarted" : ""}. Its last output:\n${output}`),
    }),
  );
  return processes;
}

/** Rejects when the signal aborts. */
const rejectOnAbort = (signal: AbortSignal | undefined) =>
  new Promise<never>((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
