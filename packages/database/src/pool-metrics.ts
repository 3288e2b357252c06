import { gauge, histogram, onScrape, secondsSince } from "@amana/runtime";

type Connect = (done?: (...outcome: unknown[]) => void) => Promise<unknown> | undefined;

/** The part of pg.Pool that this file uses. */
export interface MeasuredPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly ended: boolean;
  readonly options: { readonly max: number };
  connect: Connect;
}

const connections = gauge({
  name: "amana_database_connections",
  help: "Connections in the pool of this process by state. waited_for: calls that wait for a connection",
  labels: { state: ["in_use", "idle", "waited_for"] },
});

const connectionsMax = gauge({
  name: "amana_database_connections_max",
  help: "Maximum number of connections of the pool",
});

const waits = histogram({
  name: "amana_database_connection_wait_seconds",
  help: "Time that calls waited for a connection when none was free",
});

/** Exports the use of a pool and the waits for its connections as metrics, until the pool ends. */
export function measurePool(pool: MeasuredPool): void {
  const connect = pool.connect.bind(pool);
  // Replaces `connect`, because pg-pool emits no event when a call begins to wait. pg and the ORM
  // call `connect` with a callback for a query, and without a callback for a transaction.
  pool.connect = (done) => {
    if (pool.idleCount > pool.waitingCount) return connect(done);
    const startedMs = performance.now();
    const observe = () => waits.observe(secondsSince(startedMs));
    if (done)
      return connect((...outcome) => {
        observe();
        done(...outcome);
      });
    const connected = connect();
    connected?.then(observe, observe);
    return connected;
  };
  const scrapeHook = onScrape(() => {
    if (pool.ended) return scrapeHook[Symbol.dispose]();
    connections.set({ state: "in_use" }, pool.totalCount - pool.idleCount);
    connections.set({ state: "idle" }, pool.idleCount);
    connections.set({ state: "waited_for" }, pool.waitingCount);
    connectionsMax.set(pool.options.max);
  });
}
