import { Health, HealthCheckResponse_ServingStatus as Status } from "@amana/contracts/grpc/health/v1/health_pb";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";

/** Whether a server takes calls, told through the gRPC health checking protocol. */
export class ServerHealth {
  #serving = true;
  readonly #changes = new EventTarget();
  readonly #services: Set<string>;

  constructor(services: Iterable<string>) {
    this.#services = new Set(["", ...services]);
  }

  get serving(): boolean {
    return this.#serving;
  }

  /** Goes off before the server closes, so that balancers look elsewhere first. */
  stopServing(): void {
    this.#serving = false;
    this.#changes.dispatchEvent(new Event("change"));
  }

  routes(router: ConnectRouter): void {
    router.service(Health, {
      check: ({ service }) => {
        if (!this.#services.has(service)) throw new ConnectError("no such service here", Code.NotFound);
        return { status: this.#status() };
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
        this.#changes.addEventListener("change", () => resolve(), { once: true });
      });
      if (!signal.aborted) yield { status: this.#status() };
    }
  }
}
