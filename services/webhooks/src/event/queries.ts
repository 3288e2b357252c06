import { namedQuery, type Orm } from "@amana/database";

export interface EventRow {
  id: string;
  type: string;
  body: string;
  created_at_ms: string;
}

/** The log goes back this far, also when the job that deletes older events is late. */
const kept = "created_at > now() - interval '30 days'";
const columns = "id, type, body, floor(extract(epoch from created_at) * 1000)::bigint as created_at_ms";

export async function findEvent(orm: Orm, businessId: string, id: string): Promise<EventRow | undefined> {
  const [row] = await namedQuery<EventRow>(
    orm.em,
    "event_find",
    `select ${columns} from event where id = $1 and business_id = $2 and ${kept}`,
    [id, businessId],
  );
  return row;
}

export interface EventPage {
  readonly businessId: string;
  readonly type: string | undefined;
  readonly fromMs: bigint | undefined;
  /** Exclusive. */
  readonly toMs: bigint | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Newest first, with the number of all that match. */
export async function listEventRows(orm: Orm, page: EventPage): Promise<{ rows: EventRow[]; total: number }> {
  const values: unknown[] = [page.businessId];
  const conditions = ["business_id = $1", kept];
  const filter = (sql: string, value: unknown) => {
    values.push(value);
    conditions.push(sql.replace("?", `$${values.length}`));
  };
  if (page.type !== undefined) filter("type = ?", page.type);
  if (page.fromMs !== undefined) filter("created_at >= to_timestamp(?::float8 / 1000)", bounded(page.fromMs));
  if (page.toMs !== undefined) filter("created_at < to_timestamp(?::float8 / 1000)", bounded(page.toMs));
  const where = conditions.join(" and ");
  const name = `${page.type === undefined ? "" : "_type"}${page.fromMs === undefined ? "" : "_from"}${page.toMs === undefined ? "" : "_to"}`;

  const [rows, [counted]] = await Promise.all([
    namedQuery<EventRow>(
      orm.em,
      `event_list${name}`,
      `select ${columns} from event where ${where} order by created_at desc, id desc
       limit $${values.length + 1} offset $${values.length + 2}`,
      [...values, page.limit, page.offset],
    ),
    namedQuery<{ total: string }>(orm.em, `event_count${name}`, `select count(*) as total from event where ${where}`, values),
  ]);
  return { rows, total: Number(counted?.total ?? 0) };
}

/** Times that PostgreSQL can hold; nothing lies beyond them. */
const bounded = (ms: bigint): number => Math.min(8.64e15, Math.max(0, Number(ms)));
