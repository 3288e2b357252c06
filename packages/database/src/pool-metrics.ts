import { gauge, histogram, onScrape, secondsSince } from "@amana/runtime";

type Connect = (done?: (...outcome: unknown[]) => void) => Promise<unknown> | undefined;

/** The part of pg's pool that is measured. */
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
  help: "Connections of this process's pool, and what waits for one",
  labels: { state: ["in_use", "idle", "waited_for"] },
});

const connectionsMax = gauge({
  name: "amana_database_connections_max",
  help: "How many connections the pool may have",
});

const waits = histogram({
  name: "amana_database_connection_wait_seconds",
  help: "How long those waited for a connection who found none free",
});

/** Shows how full a pool is, and how long it was waited for, until it has ended. */
export function measurePool(pool: MeasuredPool): void {
  const connect = pool.connect.bind(pool);
  // pg comes here for each query, with a callback, and for each transaction, with none.
  pool.connect = (done) => {
    if (pool.idleCount > pool.waitingCount) return connect(done);
    const startedMs = performance.now();
    const note = () => waits.observe(secondsSince(startedMs));
    if (done)
      return connect((...outcome) => {
        note();
        done(...outcome);
      });
    const connected = connect();
    connected?.then(note, note);
    return connected;
  };
  const reading = onScrape(() => {
    if (pool.ended) return reading[Symbol.dispose]();
    connections.set({ state: "in_use" }, pool.totalCount - pool.idleCount);
    connections.set({ state: "idle" }, pool.idleCount);
    connections.set({ state: "waited_for" }, pool.waitingCount);
    connectionsMax.set(pool.options.max);
  });
}
