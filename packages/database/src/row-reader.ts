import { currentTenant, isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import DataLoader from "dataloader";
import { statementMsMax } from "./orm.ts";
import { preparedQuery } from "./prepared-query.ts";

type Row = Record<string, unknown>;

/** Timeout of a read on a broken connection, where PostgreSQL's statement timeout has no effect. */
const timeoutMs = statementMsMax + 1_000;
const rowsMax = 100;

/** Copies a row for a second caller, so that the callers share no object that they could change. */
function copyRow(row: Row): Row {
  const copy = { ...row };
  for (const name in copy) if (Array.isArray(copy[name])) copy[name] = [...(copy[name] as unknown[])];
  return copy;
}

/**
 * Creates a function that reads a committed row by its id. The reads of one tenant in one iteration
 * of the event loop share a statement, which saves a third of the CPU time of reads under load.
 * `text` selects rows with the ids `$1`, including the column `id`, and may compare the owner with
 * `$2`.
 */
export function createRowReader(text: string) {
  /** By connection pool, then by tenant and owner: the reads that wait for their statement. */
  const waiting = new WeakMap<object, Map<string, DataLoader<string, Row | undefined>>>();

  return async (em: SqlEntityManager, id: string, ...owner: [businessId?: string]): Promise<Row | undefined> => {
    // PostgreSQL would reject the whole statement for a text that is not a UUID.
    if (![id, ...owner].every(isUuid)) return undefined;
    const connection = em.getConnection();
    const loaders = waiting.get(connection) ?? new Map<string, DataLoader<string, Row | undefined>>();
    waiting.set(connection, loaders);
    const key = `${currentTenant()} ${owner}`;
    const readRows = async (ids: readonly string[]) => {
      // Keeps the map small: it contains only tenants with waiting reads.
      loaders.delete(key);
      const rows = await preparedQuery<Row>(em, text, [ids, ...owner], { timeoutMs });
      const byId = new Map(rows.map((row) => [row["id"], row]));
      const returned = new Set<Row>();
      return ids.map((wanted) => {
        const row = byId.get(wanted.toLowerCase());
        if (row && returned.has(row)) return copyRow(row);
        if (row) returned.add(row);
        return row;
      });
    };
    const loader =
      loaders.get(key) ??
      new DataLoader(readRows, { cache: false, maxBatchSize: rowsMax, batchScheduleFn: (read) => setImmediate(read) });
    loaders.set(key, loader);
    return await loader.load(id);
  };
}
