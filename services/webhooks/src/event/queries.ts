import { listPage, namedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

export interface EventRow {
  id: string;
  type: string;
  body: string;
  created_at_ms: string;
}

/** The log goes back this far, also when the job that deletes older events is late. */
const kept = "created_at > now() - interval '30 days'";
const columns = "id, type, body, floor(extract(epoch from created_at) * 1000)::bigint as created_at_ms";

export async function readEvent(em: SqlEntityManager, businessId: string, id: string): Promise<EventRow | undefined> {
  const [row] = await namedQuery<EventRow>(
    em,
    "event_read",
    `select ${columns} from event where id = $1 and business_id = $2 and ${kept}`,
    [id, businessId],
  );
  return row;
}

export interface EventFilter {
  readonly type: string | undefined;
  readonly from: Date | undefined;
  /** Exclusive. */
  readonly to: Date | undefined;
}

/** A page of a business's events, newest first, and how many there are in all. */
export const readEvents = (em: SqlEntityManager, businessId: string, by: EventFilter, page: { limit: number; offset: number }) =>
  listPage<EventRow>(em, {
    table: "event",
    columns,
    businessId,
    filters: [
      { always: kept },
      { column: "type", is: by.type },
      { sql: "created_at >= ?", value: by.from },
      { sql: "created_at < ?", value: by.to },
    ],
    limit: page.limit,
    offset: page.offset,
  });
