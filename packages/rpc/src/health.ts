import { once } from "node:events";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@amana/contracts/grpc/health/v1/health_pb";
import { atMostEvery } from "@amana/runtime";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";

/** Minimum interval between readiness checks, because several systems probe a server. */
const probeEveryMs = 1_000;

/**
 * Health of a server, published through the gRPC health checking protocol. `isReady` checks the
 * dependencies that the server requires, such as its database. `isReady` must not throw.
 */
export class ServerHealth {
  readonly #stop = new AbortController();
  readonly #services: Set<string>;
  readonly #ready: () => Promise<boolean>;

  constructor(services: Iterable<string>, isReady: () => Promise<boolean> = async () => true) {
    this.#services = new Set(["", ...services]);
    this.#ready = atMostEvery(probeEveryMs, isReady);
  }

  /**
   * Reports NOT_SERVING. Call it before the server closes, so that load balancers use other
   * servers.
   */
  stopServing(): void {
    this.#stop.abort();
  }

  /** Returns the state for probes of all kinds. Does not throw. */
  async isServing(): Promise<boolean> {
    return (await this.#ready()) && !this.#stop.signal.aborted;
  }

  routes(router: ConnectRouter): void {
    router.service(Health, {
      check: async ({ service }) => {
        if (!this.#services.has(service))
          throw new ConnectError("this server does not serve the requested service", Code.NotFound);
        return { status: (await this.isServing()) ? Status.SERVING : Status.NOT_SERVING };
      },
      watch: ({ service }, { signal }) => this.#watch(service, signal),
    });
  }

  async *#watch(service: string, signal: AbortSignal) {
    const isServing = !this.#stop.signal.aborted;
    const end = AbortSignal.any([signal, this.#stop.signal]);
    const status = isServing ? Status.SERVING : Status.NOT_SERVING;
    yield { status: this.#services.has(service) ? status : Status.SERVICE_UNKNOWN };
    if (!isServing) return;
    if (!end.aborted) await once(end, "abort");
    if (!signal.aborted) yield { status: Status.NOT_SERVING };
  }
}
