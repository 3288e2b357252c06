import { acceptsConnections } from "@amana/dev-env/accepts-connections";
import { waitUntil } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { createServiceProcess, type ServiceProcess } from "@amana/dev-env/service-process";
import { loopbackUrl, type ServiceName, servicesWithDatabase } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";

/** All replicated services, in the order in which they are replaced. */
export const replicatedServices = [...servicesWithDatabase, "gateway"] as const satisfies readonly ServiceName[];
export type ReplicatedService = (typeof replicatedServices)[number];

/** Settings with which the replicas of each service start. */
export type Settings = Readonly<Record<ReplicatedService, Record<string, string>>>;

const startMsMax = 180_000;

/** Folder of another version, or undefined for this version. */
export type Version = string | undefined;

/** A replica of a service. Its process can be replaced by a process of another version. */
export class Replica {
  readonly name: ReplicatedService;
  readonly url: string;
  readonly #create: (version: Version) => ServiceProcess;
  #process: ServiceProcess | undefined;

  constructor(name: ReplicatedService, port: number, create: (version: Version) => ServiceProcess) {
    this.name = name;
    this.url = loopbackUrl(port);
    this.#create = create;
  }

  pid(): number | undefined {
    return this.#process?.pid();
  }

  /** Stops the running process gracefully and starts a new one, as a deployment does. */
  async replace(version: Version): Promise<void> {
    await this.stop();
    this.#process = this.#create(version);
    await this.#startAndWait(this.#process);
  }

  /** Starts the process again if it is not running. */
  async restart(): Promise<void> {
    if (this.#process && !this.#process.isRunning()) await this.#startAndWait(this.#process);
  }

  /** Ends the process without a graceful shutdown. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  /** Starts a process and waits until it accepts connections. This may take minutes. */
  async #startAndWait(process: ServiceProcess): Promise<void> {
    await process.start();
    const port = Number(new URL(this.url).port);
    await waitUntil(async () => !process.isRunning() || (await acceptsConnections("127.0.0.1", port)), startMsMax);
    if (!process.isRunning()) throw new Error(`${this.name} did not start:\n${process.recentOutput()}`);
  }
}

export interface Replicas extends AsyncDisposable {
  readonly byService: Readonly<Record<ReplicatedService, readonly Replica[]>>;
}

/**
 * Starts two replicas of each service except the sandbox. The system must not run these services
 * itself, because the first replica of each service uses the system's port.
 */
export async function startReplicas(
  system: System,
  version: Version,
  onCrash: (text: string, name: ReplicatedService) => void,
): Promise<Replicas> {
  const secondPorts = new Map<ReplicatedService, number>();
  for (const name of replicatedServices) secondPorts.set(name, await freePort());
  const portsOf = (name: ReplicatedService) => [system.rpcPorts[name], secondPorts.get(name) ?? 0];
  const urlsOf = (name: ReplicatedService) => portsOf(name).map(loopbackUrl).join();
  const urls = Object.fromEntries(replicatedServices.map((name) => [`${name.toUpperCase()}_URLS`, urlsOf(name)]));

  const createReplica = (name: ReplicatedService, port: number) =>
    new Replica(name, port, (root) =>
      createServiceProcess({
        name,
        port,
        ...(root && { root }),
        env: { ...system.envOf(name), ...urls, [name === "gateway" ? "PORT" : "RPC_PORT"]: String(port) },
        logDir: system.logDir,
        supervised: false,
        onCrash: (crashed, output) => onCrash(`${crashed} exited unexpectedly:\n${output}`, name),
      }),
    );
  const byService = Object.fromEntries(
    replicatedServices.map((name) => [name, portsOf(name).map((port) => createReplica(name, port))]),
  ) as unknown as Record<ReplicatedService, Replica[]>;
  const allReplicas = Object.values(byService).flat();

  await using stack = new AsyncDisposableStack();
  stack.defer(async () => void (await Promise.all(allReplicas.map((replica) => replica.stop()))));
  await Promise.all(allReplicas.map((replica) => replica.replace(version)));
  const resources = stack.move();
  return { byService, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
