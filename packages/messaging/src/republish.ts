/**
 * Publishes events again that were published in a range of time, for when a broker has lost what it
 * had acknowledged: their rows are put into the outbox once more, under the same event ids, and the
 * running service relays them. Consumers drop those they know.
 *
 *   DATABASE_URL=… node packages/messaging/src/republish.ts \
 *     --topic payments.v1 --from 2026-11-20T08:00Z --to 2026-11-20T09:30Z
 */
import { parseArgs } from "node:util";
import pg from "pg";

const batchRows = 2_000;

interface Range {
  readonly topic: string;
  readonly from: Date;
  readonly to: Date;
}

/** Answers how many. What is committed after the call began is not among them. */
export async function republish(
  databaseUrl: string,
  { topic, from, to }: Range,
  progress = (_count: number) => {},
): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl, statement_timeout: 30_000 });
  await client.connect();
  try {
    const { rows } = await client.query<{ last: string }>("select coalesce(max(id), 0) as last from outbox");
    let done = 0;
    for (let afterId: string | undefined = "0"; afterId !== undefined; ) {
      const batch: pg.QueryResult<{ after_id: string; count: number }> = await client.query(
        `with batch as (
           select * from outbox where topic = $1 and created_at >= $2 and created_at < $3 and id > $4 and id <= $5 order by id limit $6
         ), again as (
           insert into outbox (topic, key, payload, headers) select topic, key, payload, headers from batch order by id
         )
         select max(id) as after_id, count(*)::int as count from batch having count(*) > 0`,
        [topic, from, to, afterId, rows[0]?.last, batchRows],
      );
      afterId = batch.rows[0]?.after_id;
      done += batch.rows[0]?.count ?? 0;
      progress(done);
    }
    return done;
  } finally {
    await client.end();
  }
}

/** The command's arguments; throws what to tell whoever gave them. */
function readRange(): Range {
  const { values } = parseArgs({ options: { topic: { type: "string" }, from: { type: "string" }, to: { type: "string" } } });
  const timeOf = (name: "from" | "to") => {
    const time = new Date(values[name] ?? "");
    if (Number.isNaN(time.getTime())) throw new Error(`--${name} must be a time like 2026-11-20T08:00Z`);
    return time;
  };
  if (!values.topic) throw new Error("--topic is missing: the topic whose events are to be published again, like payments.v1");
  return { topic: values.topic, from: timeOf("from"), to: timeOf("to") };
}

if (import.meta.main) {
  try {
    const databaseUrl = process.env["DATABASE_URL"];
    if (!databaseUrl) throw new Error("DATABASE_URL is not set: the database of the service that emitted the events");
    const range = readRange();
    const count = await republish(databaseUrl, range, (done) => process.stderr.write(`\r${done} events`));
    process.stdout.write(
      `\n${count} events of ${range.topic} are in the outbox again; the running service publishes them. The outbox goes back three days.\n`,
    );
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
