import type pg from "pg";

export interface OutboxRow {
  readonly key: string;
  readonly payload: Buffer;
  readonly headers: Record<string, string>;
}

/**
 * How far a topic is published: everything up to `id`, except for what was not committed yet in
 * `snapshot`. PostgreSQL writes snapshots as xmin:xmax:xip: transactions from xmax on, and those
 * listed in xip, had not ended.
 */
interface Position {
  readonly id: string;
  readonly snapshot: string;
}

const batchRowsMax = 500;
/** All rows of a part may go to one partition, and Kafka takes 1 MiB at once, headers included. */
const partBytesMax = 512 * 1024;

/** Where the topic's relay before this one came to. */
export async function loadPosition(client: pg.Client, topic: string): Promise<Position> {
  const { rows } = await client.query<Position>("select id, snapshot::text from outbox_position where topic = $1", [topic]);
  return rows[0] ?? { id: "0", snapshot: "1:1:" };
}

/** Never backwards: a relay that was frozen may still believe in an older position. */
export async function savePosition(client: pg.Client, topic: string, { id, snapshot }: Position): Promise<void> {
  await client.query({
    name: "outbox_save_position",
    text: `insert into outbox_position as p (topic, id, snapshot) values ($1, $2, $3)
           on conflict (topic) do update set id = excluded.id, snapshot = excluded.snapshot, updated_at = now()
           where p.id <= excluded.id`,
    values: [topic, id, snapshot],
  });
}

interface FoundRow extends OutboxRow {
  readonly snapshot: string;
  readonly newest: string;
  /** Null in the one row that says that there is none. */
  readonly id: string | null;
  /** More of them wait than were read. Null for none. */
  readonly cut: boolean | null;
}

/**
 * The next rows of a topic in the order of their ids, whether more of them wait, and the position
 * once they are published.
 * Those that were committed late come first, which is right: an event of the same key with a
 * higher id waited for their transaction to end, so it was not published before.
 */
export async function readNext(
  client: pg.Client,
  topic: string,
  position: Position,
): Promise<{ rows: OutboxRow[]; next: Position; isCut: boolean }> {
  const [, xmax = "", xip = ""] = position.snapshot.split(":");
  const { rows } = await client.query<FoundRow>({
    name: "outbox_read_next",
    // Only what is published is read: a client frozen while it reads leaves little on the way.
    // In a copy on another server, rows may be of transactions yet to come: these are read once.
    text: `with seen as (
             select case when xmax < $6::xid8 then xid8 '18446744073709551615' else xmax end as before
             from pg_snapshot_xmax(pg_current_snapshot()) as xmax
           ), later as (
             select * from outbox where topic = $1 and id > $2 order by id limit $3
           ), sized as (
             select *, sum(length(payload)) over (order by id) - length(payload) as bytes_before from later
           ), found as (
             select id, key, payload, headers from outbox where xid = any($5::xid8[]) and topic = $1 and id <= $2
             union all
             select id, key, payload, headers from outbox
             where xid >= $6::xid8 and xid < (select before from seen) and topic = $1 and id <= $2
             union all
             select id, key, payload, headers from sized where bytes_before = 0 or bytes_before + length(payload) <= $4
           )
           select pg_current_snapshot()::text as snapshot, coalesce((select max(id) from outbox), 0) as newest,
             (select count(*) = $3 or bool_or(bytes_before > 0 and bytes_before + length(payload) > $4) from sized) as cut,
             f.id, f.key, f.payload, f.headers
           from (select 1) as always left join found f on true order by f.id`,
    values: [topic, position.id, batchRowsMax, partBytesMax, xip === "" ? [] : xip.split(","), xmax],
  });
  const [first] = rows as [FoundRow];
  const last = rows.at(-1)?.id ?? position.id;
  const isCut = first.cut === true;
  const id = isCut ? last : first.newest;
  const next = { id: BigInt(id) > BigInt(position.id) ? id : position.id, snapshot: first.snapshot };
  return { rows: first.id === null ? [] : rows, next, isCut };
}

/** What may be published at once. Rows that were committed late can be more than that. */
export function partsOf(rows: readonly OutboxRow[]): OutboxRow[][] {
  const parts: OutboxRow[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    bytes += row.payload.length;
    if (bytes > partBytesMax) {
      parts.push([]);
      bytes = row.payload.length;
    }
    parts.at(-1)?.push(row);
  }
  return parts;
}

/** Deletes published rows that are older than three days, one batch; answers how many. */
export async function deletePublished(client: pg.Client): Promise<number> {
  const { rowCount } = await client.query(
    `delete from outbox where id = any (array(
       select o.id from outbox o join outbox_position p on p.topic = o.topic and o.id <= p.id
       where o.created_at < now() - interval '3 days'
         and (coalesce(pg_visible_in_snapshot(o.xid, p.snapshot), true) or o.xid >= pg_snapshot_xmax(pg_current_snapshot()))
       order by o.id limit 5000 for update of o skip locked
     ))`,
  );
  return rowCount ?? 0;
}
