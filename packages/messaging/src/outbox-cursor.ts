import type pg from "pg";
import type { Message } from "./message.ts";

/**
 * The position up to which a topic is published: all rows up to `id`, except those whose
 * transactions were in progress in `snapshot`. PostgreSQL formats snapshots as xmin:xmax:xip. The
 * transactions that xip lists, and all transactions from xmax on, were in progress.
 */
interface Cursor {
  readonly id: string;
  readonly snapshot: string;
}

const batchRowsMax = 500;
/**
 * Maximum size of a part of a batch. In one request, Kafka accepts 1 MiB for a partition, including
 * headers.
 */
const partBytesMax = 512 * 1024;
/** Maximum number of rows of a topic that one statement deletes. */
const deleteRowsMax = 5_000;

/** Returns the stored cursor of a topic. */
export async function loadCursor(client: pg.Client, topic: string): Promise<Cursor> {
  const { rows } = await client.query<Cursor>("select id, snapshot::text from outbox_position where topic = $1", [topic]);
  return rows[0] ?? { id: "0", snapshot: "1:1:" };
}

/**
 * Stores a cursor. Keeps a newer stored cursor, because a relay that was frozen may have an older
 * cursor.
 */
export async function saveCursor(client: pg.Client, topic: string, { id, snapshot }: Cursor): Promise<void> {
  await client.query({
    name: "outbox_save_position",
    text: `insert into outbox_position as p (topic, id, snapshot) values ($1, $2, $3)
           on conflict (topic) do update set id = excluded.id, snapshot = excluded.snapshot, updated_at = now()
           where p.id <= excluded.id`,
    values: [topic, id, snapshot],
  });
}

interface FoundRow extends Message {
  readonly snapshot: string;
  readonly newest: string;
  /** Null in the single row that is returned if there are no rows to publish. */
  readonly id: string | null;
  /**
   * True if the limit of rows or bytes excluded further rows. Null if no row has a higher id than
   * the cursor.
   */
  readonly cut: boolean | null;
}

/**
 * Returns three values: the next rows of a topic in the order of their ids (`rows`), the cursor to
 * store after their publication (`next`), and whether more rows can be read immediately (`isCut`).
 * `rows` can contain rows whose ids are below the cursor, because their transactions were committed
 * late. These rows come first. The order of events with the same key is correct: a later event of
 * that key commits after the late transaction, so it is not published before the late event.
 */
export async function readNext(
  client: pg.Client,
  topic: string,
  cursor: Cursor,
): Promise<{ rows: Message[]; next: Cursor; isCut: boolean }> {
  const [, xmax = "", xip = ""] = cursor.snapshot.split(":");
  const { rows } = await client.query<FoundRow>({
    name: "outbox_read_next",
    // Reads at most one part, so that a relay that freezes while it reads has little data in
    // flight. In a copy of the database on another server, rows can have higher transaction ids
    // than that server's current transaction id. `seen` includes these rows.
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
    values: [topic, cursor.id, batchRowsMax, partBytesMax, xip === "" ? [] : xip.split(","), xmax],
  });
  const [firstRow] = rows as [FoundRow];
  const lastId = rows.at(-1)?.id ?? cursor.id;
  const isCut = firstRow.cut === true;
  const id = isCut ? lastId : firstRow.newest;
  const next = { id: BigInt(id) > BigInt(cursor.id) ? id : cursor.id, snapshot: firstRow.snapshot };
  return { rows: firstRow.id === null ? [] : rows, next, isCut };
}

/**
 * Splits rows into parts that fit into one request. Rows that were committed late are not limited
 * by the query, so they can need several parts.
 */
export function splitIntoParts(rows: readonly Message[]): Message[][] {
  const parts: Message[][] = [];
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

/**
 * Deletes published rows of a topic that are older than three days. Reads only the topic's oldest
 * published rows, at most `deleteRowsMax`. Returns the number of deleted rows.
 */
export async function deletePublished(client: pg.Client, topic: string): Promise<number> {
  const { rowCount } = await client.query(
    `delete from outbox where id = any (array(
       select o.id from outbox_position p cross join lateral (
         select id, xid, created_at from outbox where topic = $1 and id <= p.id order by id limit ${deleteRowsMax}
       ) o
       where p.topic = $1 and o.created_at < now() - interval '3 days'
         and (coalesce(pg_visible_in_snapshot(o.xid, p.snapshot), true) or o.xid >= pg_snapshot_xmax(pg_current_snapshot()))
     ))`,
    [topic],
  );
  return rowCount ?? 0;
}
