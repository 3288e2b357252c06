import { type Orm, preparedQuery } from "@amana/database";
import { allTenants, forTenant, type Logger, poll } from "@amana/runtime";
import { durationClassOf } from "./endpoint-health.ts";

/** Numbers of succeeded and failed attempts at an endpoint in one duration class. */
interface Count {
  readonly business_id: string;
  readonly endpoint_id: string;
  readonly duration_class: number;
  succeeded: number;
  failed: number;
}

export type AttemptCounter = ReturnType<typeof startCountingAttempts>;

const writeEveryMs = 2_000;

/**
 * Counts attempts for the health of their endpoints. Counts are collected in memory and written
 * every two seconds, because the statement that records results would be up to a fifth slower if it
 * also wrote counts. A crash loses the counts of at most two seconds.
 */
export function startCountingAttempts(orm: Orm, logger: Logger) {
  let counts = new Map<string, Count>();
  const write = async () => {
    const written = [...counts.values()];
    counts = new Map();
    if (written.length > 0) await writeCounts(orm, written);
    return 0;
  };
  const writing = poll("count-attempts", logger, write, writeEveryMs);

  return {
    count({ business_id, endpoint_id }: Pick<Count, "business_id" | "endpoint_id">, durationMs: number, hasSucceeded: boolean) {
      const duration_class = durationClassOf(durationMs);
      const key = `${endpoint_id} ${duration_class}`;
      const count = counts.get(key) ?? { business_id, endpoint_id, duration_class, succeeded: 0, failed: 0 };
      count[hasSucceeded ? "succeeded" : "failed"]++;
      counts.set(key, count);
    },
    async [Symbol.asyncDispose]() {
      await writing[Symbol.asyncDispose]();
      await forTenant(allTenants, write).catch((error: unknown) =>
        logger.warn({ err: error }, "attempt counts of endpoints not stored at shutdown"),
      );
    },
  };
}

/** Writes counts in the order of the table's key, so that concurrent processes cannot deadlock. */
async function writeCounts(orm: Orm, counts: readonly Count[]): Promise<void> {
  await preparedQuery(
    orm.em,
    `insert into endpoint_health as h (business_id, endpoint_id, since, duration_class, succeeded, failed)
     select business_id, endpoint_id, date_bin('5 minutes', now(), 'epoch'), duration_class, succeeded, failed
     from jsonb_to_recordset($1::jsonb)
       as c (business_id uuid, endpoint_id uuid, duration_class smallint, succeeded integer, failed integer)
     order by business_id, endpoint_id, duration_class
     on conflict (business_id, endpoint_id, since, duration_class)
       do update set succeeded = h.succeeded + excluded.succeeded, failed = h.failed + excluded.failed`,
    [JSON.stringify(counts)],
  );
}
