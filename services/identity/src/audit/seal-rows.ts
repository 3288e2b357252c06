import type { KeyObject } from "node:crypto";
import { genesis, headColumns, headHash, isSigned, leafOf, linkHash, rowColumns, rowOf, signHead } from "@amana/audit-chain";
import { pollWhenDue, transaction } from "@amana/database";
import { faultPoint, type Logger } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { sealedUntil } from "../metrics.ts";

type SealingContext = Pick<Context, "orm" | "logger" | "auditSigningKey">;

/**
 * The current end of the audit chain. It has the fields of a head, except the public key and the
 * signature.
 */
interface Tail {
  readonly day: string;
  readonly links: number;
  readonly hash: string;
  readonly previous: string;
  readonly final: boolean;
  readonly made_at: string;
  /** Public key of the previous head. */
  readonly previousKey?: string;
}
type Head = ReturnType<typeof signHead>;
type Columns = Record<string, unknown> & { business_id: string | null };

const batchSize = 500;
const sweepBatchSize = 2_000;
const logIntervalMs = 60_000;
/**
 * Maximum time by which the database's clock may be ahead of identity's clock at the end of a day.
 */
const aheadMsMax = 600_000;

interface SealingResult {
  readonly sealed: number;
  readonly head?: Head;
  /** The database's current day, if the database's clock is ahead by more than `aheadMsMax`. */
  readonly aheadOnDay?: string;
  /** Whether all rows that were committed before the round are sealed. */
  readonly isDrained?: boolean;
}

/**
 * Interval between sealing rounds while all rows are sealed. Such a round writes the final heads of
 * completed days and updates `sealedUntil`.
 */
const idleMs = 20_000;

/**
 * Starts the job that seals audit rows within four seconds of their commit. Only one replica seals
 * rows at a time.
 */
export function startSealing(context: SealingContext): AsyncDisposable {
  let loggedAtMs = 0;
  sealedUntil.set(Date.now() / 1000);
  const due = { name: "seal-audit-trail", nextDue: "select now() from audit_unsealed limit 1", idleMs };
  return pollWhenDue(context.orm, context.logger, due, async () => {
    const startedAtMs = Date.now();
    const { sealed, head, aheadOnDay, isDrained } = await sealRows(context);
    if (isDrained) sealedUntil.set(startedAtMs / 1000);
    const isLogDue = Date.now() - loggedAtMs >= logIntervalMs;
    if (aheadOnDay && isLogDue) {
      loggedAtMs = Date.now();
      context.logger.error(
        { database_day: aheadOnDay },
        "database clock is too far ahead, the audit trail does not advance to the database's day",
      );
    }
    if (head && isLogDue) {
      loggedAtMs = Date.now();
      context.logger.info({ audit_head: head }, "audit trail sealed");
    }
    return sealed;
  });
}

/**
 * Links a batch of queued audit rows and signs the new head, in one transaction. The transaction
 * that inserts an audit row also queues the row, so that a row with a late commit is not missed.
 * Writers do not wait for `sealRows`. A link belongs to the day on which it is inserted, by the
 * database's clock.
 */
export async function sealRows({ orm, logger, auditSigningKey: { privateKey } }: SealingContext): Promise<SealingResult> {
  return await transaction(orm, async (em) => {
    const [lock] = await em.execute<{ acquired: boolean }[]>(
      "select pg_try_advisory_xact_lock(hashtext('audit chain')) as acquired",
    );
    if (!lock?.acquired) return { sealed: 0 };
    const { tail, aheadOnDay } = await openDay(em, async (finalTail) => {
      const head = await insertHead(em, finalTail, privateKey, logger);
      // This log line is evidence outside the database that the rows existed. A retry of the
      // transaction logs the line again.
      logger.info({ audit_head: head }, "day of the audit trail ended, final head signed");
      return head;
    });
    const rows = await readQueuedRows(em);
    if (rows.length === 0) {
      const queuedBatches = await queueOlderRows(em);
      return { sealed: queuedBatches, aheadOnDay, isDrained: queuedBatches === 0 };
    }

    const chainEnds = await readChainEnds(em, rows);
    let { links, hash } = tail;
    const sealed = rows.map((columns) => {
      links += 1;
      const row = rowOf(columns);
      const chainEnd = columns.business_id === null ? undefined : chainEnds.get(columns.business_id);
      const business = chainEnd && {
        business_number: chainEnd.number + 1,
        ...(chainEnd.leaf && { business_previous: chainEnd.leaf }),
      };
      const leaf = leafOf({ ...row, sealed: { day: tail.day, number: links, ...business } });
      if (chainEnd) Object.assign(chainEnd, { number: chainEnd.number + 1, leaf });
      hash = linkHash(hash, leaf);
      return { number: links, event_id: row.id, business_id: columns.business_id, ...business, leaf, hash };
    });
    await em.execute(
      `insert into audit_link (day, number, event_id, business_id, business_number, business_previous, leaf, hash)
       select ?::date, number, event_id, business_id, business_number, decode(business_previous, 'hex'), decode(leaf, 'hex'), decode(hash, 'hex')
       from jsonb_to_recordset(?::jsonb) as r (number bigint, event_id uuid, business_id uuid, business_number bigint,
         business_previous text, leaf text, hash text) order by number`,
      [tail.day, JSON.stringify(sealed)],
    );
    faultPoint("audit.linked");
    await em.execute(
      "delete from audit_unsealed where event_id = any (array(select jsonb_array_elements_text(?::jsonb)::uuid))",
      [JSON.stringify(sealed.map(({ event_id }) => event_id))],
    );
    const head = await insertHead(em, { ...tail, links, hash }, privateKey, logger);
    return { sealed: rows.length, head, aheadOnDay, isDrained: rows.length < batchSize };
  });
}

/**
 * Returns the end of the chain on the current day. Calls `endDay` for each earlier day that has no
 * final head. The current day is the day by the database's clock. If that clock is ahead by more
 * than `aheadMsMax`, identity's clock is used, because an ended day cannot be opened again.
 */
async function openDay(
  em: SqlEntityManager,
  endDay: (tail: Tail) => Promise<Head>,
): Promise<{ tail: Tail; aheadOnDay: string | undefined }> {
  const [clockRow] = await em.execute<{ database_day: string }[]>(
    "select (now() at time zone 'UTC')::date::text as database_day",
  );
  const { database_day = "" } = clockRow ?? {};
  // `made_at` uses the clock of this process, which the owner of the database cannot change. `amana
  // audit verify` compares the times of the rows with `made_at`.
  const made_at = new Date().toISOString();
  const latestDay = new Date(Date.now() + aheadMsMax).toISOString().slice(0, 10);
  const aheadOnDay = database_day > latestDay ? database_day : undefined;
  const day = aheadOnDay ? latestDay : database_day;
  const [lastHead] = await em.execute<Head[]>(
    `select ${headColumns} from audit_head order by day desc, links desc, final desc limit 1`,
  );
  if (lastHead && !isSigned(lastHead))
    throw new Error(
      `the audit head of ${lastHead.day} with ${lastHead.links} links has no valid signature, so no later rows are sealed (docs/audit.md)`,
    );
  let tail: Tail = lastHead
    ? { ...lastHead, made_at, previousKey: lastHead.public_key }
    : { day, links: 0, hash: genesis, previous: genesis, final: false, made_at };
  let endedHead = lastHead?.final ? lastHead : undefined;
  // Each iteration moves the chain to the next day, until the chain is on the current day. Ends no
  // day if the database's clock was set back.
  while (endedHead || tail.day < day) {
    endedHead ??= await endDay({ ...tail, final: true });
    const previous = headHash(endedHead);
    const nextDay = new Date(Date.parse(endedHead.day) + 86_400_000).toISOString().slice(0, 10);
    tail = { day: nextDay, links: 0, hash: previous, previous, final: false, made_at, previousKey: endedHead.public_key };
    endedHead = undefined;
  }
  return { tail, aheadOnDay };
}

async function insertHead(em: SqlEntityManager, tail: Tail, privateKey: KeyObject, logger: Logger): Promise<Head> {
  const { day, links, hash, previous, final, made_at, previousKey } = tail;
  const head = signHead({ day, links, hash, previous, final, made_at }, privateKey);
  if (previousKey && previousKey !== head.public_key)
    logger.warn(
      { former_key: previousKey, public_key: head.public_key },
      "previous audit head is signed with another key, expected only after a rotation of AUDIT_SIGNING_KEY",
    );
  await em.execute(
    `insert into audit_head (day, links, final, hash, previous, made_at, public_key, signature)
     values (?::date, ?::bigint, ?, decode(?, 'hex'), decode(?, 'hex'), ?::timestamptz, ?, ?)`,
    [day, links, final, hash, previous, made_at, head.public_key, head.signature],
  );
  return head;
}

/**
 * Returns the audit rows of the next queue entries. A queue entry without an audit row stays in the
 * queue, so that `amana audit verify` reports it.
 */
const readQueuedRows = (em: SqlEntityManager) =>
  em.execute<Columns[]>(
    `select ${rowColumns} from audit_unsealed q join audit_event e on e.id = q.event_id order by q.event_id limit ${batchSize}`,
  );

/**
 * Queues a batch of audit rows that earlier versions inserted without a queue entry. Returns 0
 * after all existing audit rows were checked, otherwise 1.
 */
async function queueOlderRows(em: SqlEntityManager): Promise<number> {
  const [sweepRow] = await em.execute<{ after_id: string }[]>("select after_id from audit_sweep");
  if (!sweepRow) return 0;
  const [batchEnd] = await em.execute<{ last: string | null }[]>(
    `with next as (select id from audit_event where id > ? order by id limit ${sweepBatchSize}),
       queued as (
         insert into audit_unsealed (event_id)
         select id from next where not exists (select from audit_link l where l.event_id = next.id) on conflict do nothing
       )
     select (select id from next order by id desc limit 1) as last`,
    [sweepRow.after_id],
  );
  if (batchEnd?.last) await em.execute("update audit_sweep set after_id = ?", [batchEnd.last]);
  else await em.execute("delete from audit_sweep");
  return batchEnd?.last ? 1 : 0;
}

/** Returns the number and the leaf of the last link of each business in `rows`, by business id. */
async function readChainEnds(em: SqlEntityManager, rows: readonly Columns[]) {
  const businessIds = [...new Set(rows.flatMap(({ business_id }) => business_id ?? []))];
  const chainEnds = await em.execute<{ id: string; number: number; leaf: string | null }[]>(
    `select b.id, coalesce(l.business_number, 0)::int as number, encode(l.leaf, 'hex') as leaf
     from jsonb_array_elements_text(?::jsonb) as t (text) cross join lateral (select t.text::uuid as id) b
     left join lateral (
       select business_number, leaf from audit_link where business_id = b.id order by business_number desc limit 1
     ) l on true`,
    [JSON.stringify(businessIds)],
  );
  return new Map(chainEnds.map(({ id, number, leaf }) => [id, { number, leaf }]));
}
