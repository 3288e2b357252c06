import { gauge, histogram, onScrape, secondsSince } from "@amana/runtime";

/** The part of pg's pool that is shown. */
export interface MeasuredPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly ended: boolean;
  readonly options: { readonly max: number };
  connect(done: (error: Error | undefined, ...rest: unknown[]) => void): void;
}

const connections = gauge({
  name: "amana_database_connections",
  help: "Connections of this process's pool; those that wait for one are requests and not connections",
  labels: { state: ["in_use", "idle", "waited_for"] },
});

const connectionsMax = gauge({
  name: "amana_database_connections_max",
  help: "How many connections the pool may have",
});

const waits = histogram({
  name: "amana_database_connection_wait_seconds",
  help: "How long was waited for a connection, by those who found none that was free",
});

/** Shows how full a pool is and how long it was waited for, until it has ended. */
export function measurePool(pool: MeasuredPool): void {
  const connect = pool.connect.bind(pool);
  // Both ways of pg end here: with a callback, as for a query, and with a promise, as for a transaction.
  pool.connect = (done?: (error: Error | undefined, ...rest: unknown[]) => void) => {
    if (pool.idleCount > 0 && pool.waitingCount === 0) return connect(done as never);
    const startedMs = performance.now();
    const note = () => waits.observe(secondsSince(startedMs));
    if (!done) {
      const connected = connect(undefined as never) as unknown as Promise<unknown>;
      connected.then(note, note);
      return connected as never;
    }
    return connect((...outcome) => {
      note();
      done(...outcome);
    });
  };
  const reading = onScrape(() => {
    if (pool.ended) return reading[Symbol.dispose]();
    connections.set({ state: "in_use" }, pool.totalCount - pool.idleCount);
    connections.set({ state: "idle" }, pool.idleCount);
    connections.set({ state: "waited_for" }, pool.waitingCount);
    connectionsMax.set(pool.options.max);
  });
}
