import { Health, HealthCheckResponse_ServingStatus as Status } from "@amana/contracts/grpc/health/v1/health_pb";
import { atMostEvery } from "@amana/runtime";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";

/** Probes come from several sides; what the server depends on is asked at most this often. */
const probeEveryMs = 1_000;

/**
 * Whether a server takes calls, told through the gRPC health checking protocol. `isReady` asks what
 * the server cannot do without, its database; it must not throw.
 */
export class ServerHealth {
  #serving = true;
  readonly #changes = new EventTarget();
  readonly #services: Set<string>;
  readonly #ready: () => Promise<boolean>;

  constructor(services: Iterable<string>, isReady: () => Promise<boolean> = async () => true) {
    this.#services = new Set(["", ...services]);
    this.#ready = atMostEvery(probeEveryMs, isReady);
  }

  /** Goes off before the server closes, so that balancers look elsewhere first. */
  stopServing(): void {
    this.#serving = false;
    this.#changes.dispatchEvent(new Event("change"));
  }

  /** What probes hear, of whatever kind. Does not throw. */
  async isServing(): Promise<boolean> {
    return (await this.#ready()) && this.#serving;
  }

  routes(router: ConnectRouter): void {
    router.service(Health, {
      check: async ({ service }) => {
        if (!this.#services.has(service)) throw new ConnectError("no such service here", Code.NotFound);
        return { status: (await this.isServing()) ? Status.SERVING : Status.NOT_SERVING };
      },
      watch: ({ service }, { signal }) => this.#watch(service, signal),
    });
  }

  #status(): Status {
    return this.#serving ? Status.SERVING : Status.NOT_SERVING;
  }

  async *#watch(service: string, signal: AbortSignal) {
    yield { status: this.#services.has(service) ? this.#status() : Status.SERVICE_UNKNOWN };
    while (!signal.aborted && this.#serving) {
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
        this.#changes.addEventListener("change", () => resolve(), { once: true, signal });
      });
      if (!signal.aborted) yield { status: this.#status() };
    }
  }
}
