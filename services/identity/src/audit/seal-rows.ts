import type { KeyObject } from "node:crypto";
import { genesis, headColumns, headHash, isSigned, leafOf, linkHash, rowColumns, rowOf, signHead } from "@amana/audit-chain";
import { type Orm, transaction } from "@amana/database";
import type { CallerKey } from "@amana/rpc";
import { faultPoint, type Logger, poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { sealedUntil } from "../metrics.ts";

interface Sealing {
  readonly orm: Orm;
  readonly logger: Logger;
  readonly auditSigningKey: CallerKey;
}

/** Where the chain is; a head without who vouches for it. */
interface Tail {
  readonly day: string;
  readonly links: number;
  readonly hash: string;
  readonly previous: string;
  readonly final: boolean;
  readonly made_at: string;
  /** The key of the head that this goes on from. */
  readonly follows?: string;
}
type Head = ReturnType<typeof signHead>;
type Columns = Record<string, unknown> & { business_id: string | null };

const batch = 500;
const sweepBatch = 2_000;
const tellEveryMs = 60_000;
/** How far ahead of identity's own clock the database's may be when it ends a day. */
const aheadMsMax = 600_000;

interface Sealed {
  readonly sealed: number;
  readonly head?: Head;
  /** The database's day, where that is none yet by identity's own clock. */
  readonly aheadOnDay?: string | undefined;
  /** Whether all rows are sealed that were committed before the round began. */
  readonly isDrained?: boolean;
}

/** Seals what is committed, every second; of all replicas one at a time does. */
export function startSealing(context: Sealing): AsyncDisposable {
  let toldAtMs = 0;
  sealedUntil.set(Date.now() / 1000);
  return poll("seal-audit-trail", context.logger, async () => {
    const beganAtMs = Date.now();
    const { sealed, head, aheadOnDay, isDrained } = await sealRows(context);
    if (isDrained) sealedUntil.set(beganAtMs / 1000);
    const isTime = Date.now() - toldAtMs >= tellEveryMs;
    if (aheadOnDay && isTime) {
      toldAtMs = Date.now();
      context.logger.error(
        { database_day: aheadOnDay },
        "the database's clock is ahead: the audit trail ends no day that is not over",
      );
    }
    if (head && isTime) {
      toldAtMs = Date.now();
      context.logger.info({ audit_head: head }, "the audit trail is sealed so far");
    }
    return sealed;
  });
}

/**
 * Links rows that have no link, a bounded number, and vouches for them, in one transaction. A row
 * is found however late its transaction commits, for that puts it into the queue. Writers wait
 * for nobody: a link belongs to the day on which it was made, by the database's clock.
 */
export async function sealRows({ orm, logger, auditSigningKey: { privateKey } }: Sealing): Promise<Sealed> {
  return await transaction(orm, async (em) => {
    const [lock] = await em.execute<{ got: boolean }[]>("select pg_try_advisory_xact_lock(hashtext('audit chain')) as got");
    if (!lock?.got) return { sealed: 0 };
    const { tail, aheadOnDay } = await today(em, async (ended) => {
      const head = await keepHead(em, ended, privateKey, logger);
      // Kept elsewhere, it proves what was there. Logged twice where the transaction is repeated.
      logger.info({ audit_head: head }, "a day of the audit trail is ended");
      return head;
    });
    const rows = await nextRows(em);
    if (rows.length === 0) {
      const swept = await sweep(em);
      return { sealed: swept, aheadOnDay, isDrained: swept === 0 };
    }

    const places = await placesOf(em, rows);
    let { links, hash } = tail;
    const sealed = rows.map((columns) => {
      links += 1;
      const row = rowOf(columns);
      const place = columns.business_id === null ? undefined : places.get(columns.business_id);
      const business = place && { business_number: place.number + 1, ...(place.leaf && { business_previous: place.leaf }) };
      const leaf = leafOf({ ...row, sealed: { day: tail.day, number: links, ...business } });
      if (place) Object.assign(place, { number: place.number + 1, leaf });
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
    const head = await keepHead(em, { ...tail, links, hash }, privateKey, logger);
    return { sealed: rows.length, head, aheadOnDay, isDrained: rows.length < batch };
  });
}

/**
 * The chain's end on the database's day; days that are over are ended. A day that was ended stays
 * so for good: a database's clock that is far ahead ends none that is not over by identity's own.
 */
async function today(
  em: SqlEntityManager,
  end: (tail: Tail) => Promise<Head>,
): Promise<{ tail: Tail; aheadOnDay: string | undefined }> {
  const [now] = await em.execute<{ database_day: string }[]>("select (now() at time zone 'UTC')::date::text as database_day");
  const { database_day = "" } = now ?? {};
  // The time of this process, which the database's owner cannot set: `amana audit verify` compares
  // the rows' own times with it.
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
    ? { ...last, made_at, follows: last.public_key }
    : { day, links: 0, hash: genesis, previous: genesis, final: false, made_at };
  let ended = last?.final ? last : undefined;
  // A clock that was put back ends no day, and one that was ended stays so.
  while (ended || tail.day < day) {
    ended ??= await end({ ...tail, final: true });
    const previous = headHash(ended);
    const next = new Date(Date.parse(ended.day) + 86_400_000).toISOString().slice(0, 10);
    tail = { day: next, links: 0, hash: previous, previous, final: false, made_at, follows: ended.public_key };
    ended = undefined;
  }
  return { tail, aheadOnDay };
}

async function keepHead(em: SqlEntityManager, tail: Tail, privateKey: KeyObject, logger: Logger): Promise<Head> {
  const { day, links, hash, previous, final, made_at, follows } = tail;
  const head = signHead({ day, links, hash, previous, final, made_at }, privateKey);
  if (follows && follows !== head.public_key)
    logger.warn(
      { former_key: follows, public_key: head.public_key },
      "the audit trail goes on from a head of another key: right where AUDIT_SIGNING_KEY was rotated, and nowhere else",
    );
  await em.execute(
    `insert into audit_head (day, links, final, hash, previous, made_at, public_key, signature)
     values (?::date, ?::bigint, ?, decode(?, 'hex'), decode(?, 'hex'), ?::timestamptz, ?, ?)`,
    [day, links, final, hash, previous, made_at, head.public_key, head.signature],
  );
  return head;
}

/** The next of the queue. One whose row is gone stays there, for `amana audit verify` to find. */
const nextRows = (em: SqlEntityManager) =>
  em.execute<Columns[]>(
    `select ${rowColumns} from audit_unsealed q join audit_event e on e.id = q.event_id order by q.event_id limit ${batch}`,
  );

/** Queues what was there before the queue was. */
async function sweep(em: SqlEntityManager): Promise<number> {
  const [place] = await em.execute<{ after_id: string }[]>("select after_id from audit_sweep");
  if (!place) return 0;
  const [found] = await em.execute<{ last: string | null }[]>(
    `with next as (select id from audit_event where id > ? order by id limit ${sweepBatch}),
       queued as (
         insert into audit_unsealed (event_id)
         select id from next where not exists (select from audit_link l where l.event_id = next.id) on conflict do nothing
       )
     select (select id from next order by id desc limit 1) as last`,
    [place.after_id],
  );
  if (found?.last) await em.execute("update audit_sweep set after_id = ?", [found.last]);
  else await em.execute("delete from audit_sweep");
  return found?.last ? 1 : 0;
}

/** Where the chains of these rows' businesses end. */
async function placesOf(em: SqlEntityManager, rows: readonly Columns[]) {
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
