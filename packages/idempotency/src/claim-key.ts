import { type Call, isSameRequest } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { IdempotencyRecord } from "./record.ts";
import { idempotencyInProgress, idempotencyKeyReused } from "./refusals.ts";

/**
 * Either the stored answer of an earlier execution, or the right to execute: without a record when
 * no key was sent, and repeated when an earlier execution under the same record may have gone as
 * far as it liked.
 */
export type Claim<Answer> = { replayed: Answer } | { record: IdempotencyRecord | undefined; isRepeated: boolean };

/**
 * Takes the call's Idempotency-Key inside the transaction that begins the work. The claim is
 * visible to others once that transaction commits and vanishes with a rollback, so refusals by our
 * own rules leave no trace. Until the record gets an answer or a refusal, other calls with the key
 * are rejected as in progress. For 24 hours afterwards, they get that answer or refusal.
 *
 * `heldMs` is for work that does no harm when it is done twice under one id: the record's. After
 * that time, or once it was released, the same request claims the same record again. Left out:
 * whatever happens, nobody else executes.
 *
 * Never waits for another call's lock. Throws the stored refusal, `idempotency_key_reused` or
 * `idempotency_in_progress`.
 */
export async function claimKey<O extends DescMessage>(
  em: SqlEntityManager,
  call: Call,
  output: O,
  { heldMs }: { heldMs?: number } = {},
): Promise<Claim<MessageShape<O>>> {
  const { idempotencyKey, caller } = call;
  if (!idempotencyKey) return { record: undefined, isRepeated: false };
  const { key, route, fingerprint } = idempotencyKey;
  const scope = caller.role === "business" ? caller.businessId : caller.role === "admin" ? caller.keyId : caller.role;

  // Two first uses at the same instant: the unique index would make the second wait, the lock lets
  // it say so.
  const [lock] = await em.execute<{ got: boolean; ms: string }[]>(
    `select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as got, floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms`,
    [JSON.stringify([scope, route, key])],
  );
  const now = new Date(Number(lock?.ms));
  const heldUntil = heldMs === undefined ? null : new Date(now.getTime() + heldMs);
  const known = await em.findOne(IdempotencyRecord, { scope, route, key });
  if (known && !known.isForgotten(now)) {
    if (!isSameRequest(idempotencyKey, known.fingerprint)) throw idempotencyKeyReused();
    if (known.hasEnded()) {
      call.markReplayed();
      return { replayed: known.replay(output) };
    }
    const record = lock?.got && known.isAbandoned(now) ? await lockUnended(em, known.id) : null;
    if (!record) throw idempotencyInProgress();
    record.heldUntil = heldUntil;
    record.keptFrom = now;
    return { record, isRepeated: true };
  }
  if (!lock?.got) throw idempotencyInProgress();
  if (known) await em.nativeDelete(IdempotencyRecord, { id: known.id });
  const record = em.create(IdempotencyRecord, { id: uuidv7(), scope, route, key, fingerprint, heldUntil, keptFrom: now });
  em.persist(record);
  return { record, isRepeated: false };
}

/** Null when it ends at this very moment. */
const lockUnended = (em: SqlEntityManager, id: string) =>
  em.findOne(
    IdempotencyRecord,
    { id, answer: null, refusal: null },
    { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, refresh: true },
  );

/**
 * The record that a claim left, in the transaction that ends the work. Locks are taken in one order
 * everywhere, so that nobody waits in a circle: the key's row first, then the rows that the work is
 * about. Undefined without an id, and when it is gone.
 */
export async function lockKey(em: SqlEntityManager, id: string | null | undefined): Promise<IdempotencyRecord | undefined> {
  if (!id) return undefined;
  return (await em.findOne(IdempotencyRecord, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })) ?? undefined;
}
