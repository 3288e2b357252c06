import { createHash } from "node:crypto";
import { columnsOf, findEntities } from "@amana/database";
import { type Call, isSameRequest } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { IdempotencyRecord } from "./record.ts";
import { idempotencyInProgress, idempotencyKeyReused } from "./refusals.ts";

/**
 * Result of a claim: either the stored response of an earlier execution, or the right to execute.
 * `record` is undefined if the call has no key. `isRepeated` is true if an earlier execution under
 * the same record may have had some or all of its effects.
 */
type Claim<Response> =
  | { replayed: Response }
  | {
      record: IdempotencyRecord | undefined;
      isRepeated: boolean;
      /** Time of the claim by the database's clock; undefined if the call has no key. */
      now: Date | undefined;
    };

interface ClaimRow {
  readonly is_locked: boolean;
  readonly now: string;
  /** Null if no record was inserted. */
  readonly inserted_id: string | null;
  /** Columns of the existing record; null if there is none. */
  readonly id: string | null;
}

/**
 * Claims the call's Idempotency-Key, usually in the transaction that begins the work. The claim is
 * visible to other calls once that transaction commits. A rollback removes the claim, so no record
 * remains if Amana's own rules reject the call. Other calls with the key throw
 * `idempotency_in_progress` until the record has a response or a stored refusal of an external
 * system. For 24 hours afterwards, they get that response or refusal.
 *
 * Pass `heldMs` only if the work can be repeated under the id of the record. After `heldMs`, or
 * after a release, the same request can claim the same record again. Without `heldMs`, no other
 * call executes until the record has a response or a refusal.
 *
 * Never waits for the lock of another call. Throws the stored refusal, `idempotency_key_reused` or
 * `idempotency_in_progress`.
 */
export async function claimKey<O extends DescMessage>(
  em: SqlEntityManager,
  call: Call,
  output: O,
  { heldMs }: { heldMs?: number } = {},
): Promise<Claim<MessageShape<O>>> {
  const { idempotencyKey, caller } = call;
  if (!idempotencyKey) return { record: undefined, isRepeated: false, now: undefined };
  const { key, route, fingerprint } = idempotencyKey;
  const scope = caller.role === "business" ? caller.businessId : caller.role === "admin" ? caller.keyId : caller.role;
  const id = uuidv7();

  const [row] = await em.execute<ClaimRow[]>(claimStatement(columnsOf(em, IdempotencyRecord)), [
    ...lockNumbers(scope, route, key),
    scope,
    route,
    key,
    id,
    scope,
    route,
    key,
    fingerprint,
    heldMs === undefined ? null : String(heldMs),
  ]);
  if (!row) throw new Error("the statement that claims the Idempotency-Key returned no row");
  const now = new Date(Number(row.now));
  const heldUntil = heldMs === undefined ? null : new Date(now.getTime() + heldMs);
  const inserted = { id, scope, route, key, fingerprint, answer: null, refusal: null, heldUntil, keptFrom: now };
  if (row.inserted_id) return { record: em.merge(IdempotencyRecord, inserted), isRepeated: false, now };

  // If the statement got the lock but found no record, another call has inserted a record after the
  // snapshot of the statement.
  const existing = row.id ? em.fork().map(IdempotencyRecord, row as object) : undefined;
  if (!existing) throw idempotencyInProgress();
  const isExpired = existing.isExpired(now);
  if (!isExpired) {
    if (!isSameRequest(idempotencyKey, existing.fingerprint)) throw idempotencyKeyReused();
    if (existing.hasEnded()) {
      call.markReplayed();
      return { replayed: existing.replay(output) };
    }
  }
  if (!row.is_locked || !(isExpired || existing.isAbandoned(now))) throw idempotencyInProgress();
  const claimed = { ...inserted, id: isExpired ? id : existing.id };
  const reclaimed = await em.execute(reclaimStatement, [
    claimed.id,
    fingerprint,
    heldUntil,
    now,
    existing.id,
    existing.keptFrom,
    existing.heldUntil ?? null,
    !existing.hasEnded(),
  ]);
  // No row was updated: the execution has ended in the meantime, or another transaction has locked
  // the record.
  if (reclaimed.length === 0) throw idempotencyInProgress();
  return { record: em.merge(IdempotencyRecord, claimed), isRepeated: !isExpired, now };
}

/**
 * SQL statement that claims a record again if no other call has changed or locked the record since
 * it was read.
 */
const reclaimStatement = `
  update idempotency_key k set id = ?, fingerprint = ?, answer = null, refusal = null, held_until = ?::timestamptz, created_at = ?::timestamptz
  from (
    select id from idempotency_key where id = ? and created_at = ?::timestamptz and held_until is not distinct from ?::timestamptz
      and (answer is null and refusal is null) = ?::boolean
    for update skip locked
  ) unchanged where k.id = unchanged.id returning k.id`;

/**
 * Returns the two numbers of a key's advisory lock. Relays and other work use locks with one
 * number. In PostgreSQL, a lock with two numbers never conflicts with a lock with one number. The
 * hash must be cryptographic. Otherwise a business could choose a key that has the same lock as a
 * key of another business.
 */
function lockNumbers(...parts: string[]): string[] {
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest();
  // The driver would write numbers into the statement, and PostgreSQL would plan each claim again.
  return [0, 4].map((at) => String(hash.readInt32BE(at)));
}

/**
 * Returns the SQL statement that reads the given columns of a key's record, or inserts a record if
 * the key has no record. If two requests use a new key at the same time, one request gets the
 * advisory lock, and `claimKey` rejects the other request immediately. Without the lock, the second
 * request would wait at the unique index.
 */
const claimStatement = (columns: string) => `
  with clock as materialized (
    select date_trunc('milliseconds', clock_timestamp()) as now, pg_try_advisory_xact_lock(?::int, ?::int) as is_locked
  ), existing as (
    select ${columns} from idempotency_key where scope = ? and route = ? and key = ?
  ), inserted as (
    insert into idempotency_key (id, scope, route, key, fingerprint, held_until, created_at)
    select ?::uuid, ?, ?, ?, ?, now + ?::float8 * interval '1 millisecond', now from clock
    where is_locked and not exists (select from existing)
    on conflict do nothing returning id as inserted_id
  )
  select clock.is_locked, floor(extract(epoch from clock.now) * 1000)::bigint as now, inserted_id, ${columns}
  from clock left join inserted on true left join existing on true`;

/**
 * Returns the record of a claim, so that the caller can change it in the transaction of `em`. If
 * the same call has made the claim, pass the `record` of the claim; the result is a copy of this
 * record. Otherwise pass the id of the record, which is then locked and returned.
 */
export async function attachKey(
  em: SqlEntityManager,
  record: IdempotencyRecord | undefined,
  id: string | null | undefined,
): Promise<IdempotencyRecord | undefined> {
  return record ? em.merge(IdempotencyRecord, { ...record }) : await lockKey(em, id);
}

/**
 * Returns and locks the record of a claim, in the transaction that ends the work. To prevent
 * deadlocks, all code locks the row of the key before the rows that the work changes. Returns
 * undefined if there is no id or no such record.
 */
export async function lockKey(em: SqlEntityManager, id: string | null | undefined): Promise<IdempotencyRecord | undefined> {
  if (!id) return undefined;
  const [record] = await findEntities(em, IdempotencyRecord, "id = ? for update", [id]);
  return record;
}
