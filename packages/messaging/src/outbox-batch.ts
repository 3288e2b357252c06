import { faultPoint, within } from "@amana/runtime";
import type pg from "pg";
import type { Transport } from "./transport.ts";

export interface OutboxRow {
  readonly id: string;
  readonly topic: string;
  readonly key: string;
  readonly payload: Buffer;
  readonly headers: Record<string, string>;
}

const batchRowsMax = 500;
/** All rows of a batch may go to one partition, and Kafka takes 1 MiB at once (message.max.bytes), headers included. */
const batchBytesMax = 512 * 1024;

/** The oldest rows of all topics but these. */
export async function readBatch(client: pg.Client, topicsLeftOut: readonly string[]): Promise<OutboxRow[]> {
  const { rows } = await client.query<OutboxRow>({
    name: "outbox_batch",
    // What is read is what is published, so that a client that is frozen while it reads leaves little on the way.
    text: `select id, topic, key, payload, headers from (
             select *, sum(length(payload)) over (order by id) - length(payload) as bytes_before
             from (select * from outbox where topic <> all($2) order by id limit $1) as oldest
           ) as batch where bytes_before = 0 or bytes_before + length(payload) <= $3 order by id`,
    values: [batchRowsMax, topicsLeftOut, batchBytesMax],
  });
  return rows;
}

/** Hands rows of a topic over and deletes them; throws after `timeoutMs` at the latest. */
export async function publishBatch(
  client: pg.Client,
  transport: Transport,
  topic: string,
  rows: readonly OutboxRow[],
  timeoutMs: number,
): Promise<void> {
  const messages = rows.map(({ key, payload, headers }) => ({ key, payload, headers }));
  const abandoned = AbortSignal.timeout(timeoutMs);
  await within(timeoutMs, transport.publish(topic, messages, abandoned));
  faultPoint("relay.published");
  await client.query({
    name: "outbox_delete",
    text: "delete from outbox where id = any($1)",
    values: [rows.map((row) => row.id)],
  });
}
