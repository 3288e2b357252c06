import type { KeyObject } from "node:crypto";
import { genesis, headColumns, headHash, isSigned, leafOf, linkHash, rowColumns, rowOf, signHead } from "@amana/audit-chain";
import { type Orm, transaction } from "@amana/database";
import type { CallerKey } from "@amana/rpc";
import { faultPoint, type Logger, poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { sealedUntil } from "../metrics.ts";

interface SealingContext {
  readonly orm: Orm;
  readonly logger: Logger;
  readonly auditSigningKey: CallerKey;
}

/** The end of the chain: a head without key and signature. */
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

const batch = 500;
const sweepBatch = 2_000;
const logIntervalMs = 60_000;
/** Maximum lead of the database's clock over identity's clock when a day is ended. */
const aheadMsMax = 600_000;

interface SealingResult {
  readonly sealed: number;
  readonly head?: Head;
  /** The database's day, if it has not begun by identity's clock. */
  readonly aheadOnDay?: string | undefined;
  /** Whether all rows that were committed before the round are sealed. */
  readonly isDrained?: boolean;
}

/** Seals committed rows every second, in one replica at a time. */
export function startSealing(context: SealingContext): AsyncDisposable {
  let loggedAtMs = 0;
  sealedUntil.set(Date.now() / 1000);
  return poll("seal-audit-trail", context.logger, async () => {
    const beganAtMs = Date.now();
    const { sealed, head, aheadOnDay, isDrained } = await sealRows(context);
    if (isDrained) sealedUntil.set(beganAtMs / 1000);
    const isLogDue = Date.now() - loggedAtMs >= logIntervalMs;
    if (aheadOnDay && isLogDue) {
      loggedAtMs = Date.now();
      context.logger.error(
        { database_day: aheadOnDay },
        "database clock is ahead, the current day of the audit trail is not ended",
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
 * Links a batch of unlinked rows and signs the new head, in one transaction. The transaction of a
 * row also queues it, so that a row with a late commit is found. Writers do not wait for the
 * sealing. A link belongs to the day of its creation by the database's clock.
 */
export async function sealRows({ orm, logger, auditSigningKey: { privateKey } }: SealingContext): Promise<SealingResult> {
  return await transaction(orm, async (em) => {
    const [lock] = await em.execute<{ acquired: boolean }[]>(
      "select pg_try_advisory_xact_lock(hashtext('audit chain')) as acquired",
    );
    if (!lock?.acquired) return { sealed: 0 };
    const { tail, aheadOnDay } = await openDay(em, async (finalTail) => {
      const head = await insertHead(em, finalTail, privateKey, logger);
      // A copy of the log outside the database proves the rows. A repeated transaction logs it
      // again.
      logger.info({ audit_head: head }, "day of the audit trail ended");
      return head;
    });
    const rows = await nextRows(em);
    if (rows.length === 0) {
      const swept = await sweep(em);
      return { sealed: swept, aheadOnDay, isDrained: swept === 0 };
    }

    const positions = await positionsOf(em, rows);
    let { links, hash } = tail;
    const sealed = rows.map((columns) => {
      links += 1;
      const row = rowOf(columns);
      const position = columns.business_id === null ? undefined : positions.get(columns.business_id);
      const business = position && {
        business_number: position.number + 1,
        ...(position.leaf && { business_previous: position.leaf }),
      };
      const leaf = leafOf({ ...row, sealed: { day: tail.day, number: links, ...business } });
      if (position) Object.assign(position, { number: position.number + 1, leaf });
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
    return { sealed: rows.length, head, aheadOnDay, isDrained: rows.length < batch };
  });
}

/**
 * Returns the end of the chain on the database's day, and calls `endDay` for each completed day
 * before it. An ended day cannot be opened again. Therefore a day that is not complete by
 * identity's clock is not ended, even if the database's clock is ahead.
 */
async function openDay(
  em: SqlEntityManager,
  endDay: (tail: Tail) => Promise<Head>,
): Promise<{ tail: Tail; aheadOnDay: string | undefined }> {
  const [now] = await em.execute<{ database_day: string }[]>("select (now() at time zone 'UTC')::date::text as database_day");
  const { database_day = "" } = now ?? {};
  // The owner of the database cannot change the clock of this process. `amana audit verify`
  // compares the times of the rows with it.
  const made_at = new Date().toISOString();
  const latest = new Date(Date.now() + aheadMsMax).toISOString().slice(0, 10);
  const aheadOnDay = database_day > latest ? database_day : undefined;
  const day = aheadOnDay ? latest : database_day;
  const [last] = await em.execute<Head[]>(
    `select ${headColumns} from audit_head order by day desc, links desc, final desc limit 1`,
  );
  if (last && !isSigned(last))
    throw new Error(`the head of ${last.day} over ${last.links} links is not signed: nothing is sealed after it (docs/audit.md)`);
  let tail: Tail = last
    ? { ...last, made_at, previousKey: last.public_key }
    : { day, links: 0, hash: genesis, previous: genesis, final: false, made_at };
  let ended = last?.final ? last : undefined;
  // A clock that was set back ends no day.
  while (ended || tail.day < day) {
    ended ??= await endDay({ ...tail, final: true });
    const previous = headHash(ended);
    const next = new Date(Date.parse(ended.day) + 86_400_000).toISOString().slice(0, 10);
    tail = { day: next, links: 0, hash: previous, previous, final: false, made_at, previousKey: ended.public_key };
    ended = undefined;
  }
  return { tail, aheadOnDay };
}

async function insertHead(em: SqlEntityManager, tail: Tail, privateKey: KeyObject, logger: Logger): Promise<Head> {
  const { day, links, hash, previous, final, made_at, previousKey } = tail;
  const head = signHead({ day, links, hash, previous, final, made_at }, privateKey);
  if (previousKey && previousKey !== head.public_key)
    logger.warn(
      { former_key: previousKey, public_key: head.public_key },
      "previous head of the audit trail has another key, expected only after a rotation of AUDIT_SIGNING_KEY",
    );
  await em.execute(
    `insert into audit_head (day, links, final, hash, previous, made_at, public_key, signature)
     values (?::date, ?::bigint, ?, decode(?, 'hex'), decode(?, 'hex'), ?::timestamptz, ?, ?)`,
    [day, links, final, hash, previous, made_at, head.public_key, head.signature],
  );
  return head;
}

/**
 * Reads the next queued rows. An entry without a row stays, so that `amana audit verify` reports
 * it.
 */
const nextRows = (em: SqlEntityManager) =>
  em.execute<Columns[]>(
    `select ${rowColumns} from audit_unsealed q join audit_event e on e.id = q.event_id order by q.event_id limit ${batch}`,
  );

/** Queues rows that are older than the queue. Returns 1 while there may be more, else 0. */
async function sweep(em: SqlEntityManager): Promise<number> {
  const [progress] = await em.execute<{ after_id: string }[]>("select after_id from audit_sweep");
  if (!progress) return 0;
  const [found] = await em.execute<{ last: string | null }[]>(
    `with next as (select id from audit_event where id > ? order by id limit ${sweepBatch}),
       queued as (
         insert into audit_unsealed (event_id)
         select id from next where not exists (select from audit_link l where l.event_id = next.id) on conflict do nothing
       )
     select (select id from next order by id desc limit 1) as last`,
    [progress.after_id],
  );
  if (found?.last) await em.execute("update audit_sweep set after_id = ?", [found.last]);
  else await em.execute("delete from audit_sweep");
  return found?.last ? 1 : 0;
}

/** Returns the ends of the chains of the rows' businesses. */
async function positionsOf(em: SqlEntityManager, rows: readonly Columns[]) {
  const ids = [...new Set(rows.flatMap(({ business_id }) => business_id ?? []))];
  const found = await em.execute<{ id: string; number: number; leaf: string | null }[]>(
    `select b.id, coalesce(l.business_number, 0)::int as number, encode(l.leaf, 'hex') as leaf
     from jsonb_array_elements_text(?::jsonb) as t (text) cross join lateral (select t.text::uuid as id) b
     left join lateral (
       select business_number, leaf from audit_link where business_id = b.id order by business_number desc limit 1
     ) l on true`,
    [JSON.stringify(ids)],
  );
  return new Map(found.map(({ id, number, leaf }) => [id, { number, leaf }]));
}
