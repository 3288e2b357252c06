import { acceptsConnections } from "@amana/dev-env/accepts-connections";
import { until } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { type ServiceProcess, serviceProcess } from "@amana/dev-env/service-process";
import { databaseOwners, loopbackUrl, type ServiceName } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";

/** Every service of which there are several, in the order in which they are replaced. */
export const replicated = [...databaseOwners, "gateway"] as const satisfies readonly ServiceName[];
export type Replicated = (typeof replicated)[number];

const servesMsMax = 180_000;

/** The folder of a version; undefined is this one. */
export type Version = string | undefined;

/** One of the two places where a service runs, in whichever version. */
export class Replica {
  readonly name: Replicated;
  readonly url: string;
  readonly #create: (version: Version) => ServiceProcess;
  #process: ServiceProcess | undefined;

  constructor(name: Replicated, port: number, create: (version: Version) => ServiceProcess) {
    this.name = name;
    this.url = loopbackUrl(port);
    this.#create = create;
  }

  pid(): number | undefined {
    return this.#process?.pid();
  }

  /** In good order, as a deployment does: the process that runs is asked to stop, and then the new one starts. */
  async replace(version: Version): Promise<void> {
    await this.stop();
    this.#process = this.#create(version);
    await this.#startIt(this.#process);
  }

  /** Starts it again when it does not run: after a crash. */
  async restart(): Promise<void> {
    if (this.#process && !this.#process.running()) await this.#startIt(this.#process);
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  /** The next one is replaced only when this one serves: on a busy machine that takes minutes. */
  async #startIt(process: ServiceProcess): Promise<void> {
    await process.start();
    const port = Number(new URL(this.url).port);
    await until(async () => !process.running() || (await acceptsConnections("127.0.0.1", port)), servesMsMax);
    if (!process.running()) throw new Error(`${this.name} does not start:\n${process.recentOutput()}`);
  }
}

export interface Replicas extends AsyncDisposable {
  readonly of: Readonly<Record<Replicated, readonly Replica[]>>;
}

/** Stops the system's own services and starts two of each in their place; the sandbox stays one. */
export async function startReplicas(
  system: System,
  version: Version,
  onCrash: (text: string, name: Replicated) => void,
): Promise<Replicas> {
  const others = new Map<Replicated, number>();
  for (const name of replicated) others.set(name, await freePort());
  const portsOf = (name: Replicated) => [system.rpcPorts[name], others.get(name) ?? 0];
  const urlsOf = (name: Replicated) => portsOf(name).map(loopbackUrl).join();
  const urls = Object.fromEntries(replicated.map((name) => [`${name.toUpperCase()}_URLS`, urlsOf(name)]));

  const replicaOf = (name: Replicated, port: number) =>
    new Replica(name, port, (root) =>
      serviceProcess({
        name,
        port,
        ...(root && { root }),
        env: { ...system.envOf(name), ...urls, [name === "gateway" ? "PORT" : "RPC_PORT"]: String(port) },
        logDir: system.logDir,
        supervised: false,
        onCrash: (crashed, output) => onCrash(`${crashed} ended by itself:\n${output}`, name),
      }),
    );
  const of = Object.fromEntries(
    replicated.map((name) => [name, portsOf(name).map((port) => replicaOf(name, port))]),
  ) as unknown as Record<Replicated, Replica[]>;
  const all = Object.values(of).flat();

  for (const name of replicated) await system.services[name].stop();
  await using stack = new AsyncDisposableStack();
  stack.defer(async () => void (await Promise.all(all.map((replica) => replica.stop()))));
  await Promise.all(all.map((replica) => replica.replace(version)));
  const started = stack.move();
  return { of, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
