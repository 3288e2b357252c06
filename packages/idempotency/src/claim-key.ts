import { type Call, isSameRequest } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { IdempotencyRecord } from "./record.ts";
import { idempotencyInProgress, idempotencyKeyReused } from "./refusals.ts";

/**
 * Either the stored response of an earlier execution, or the right to execute. `record` is
 * undefined if the call has no key. `isRepeated` is true if an earlier execution under the same
 * record may have had some or all of its effects.
 */
export type Claim<Response> = { replayed: Response } | { record: IdempotencyRecord | undefined; isRepeated: boolean };

/**
 * Claims the call's Idempotency-Key in the transaction that begins the work. The claim is visible
 * to other calls once that transaction commits. A rollback removes it, so a rejection by a rule of
 * the domain leaves no trace. Until the record has a response or a refusal, other calls with the
 * key are rejected as in progress. For 24 hours afterwards, they get that response or refusal.
 *
 * `heldMs` is for work that can be repeated under one id, the id of the record. After that time,
 * or after a release, the same request claims the same record again. Without `heldMs`, no other
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
  if (!idempotencyKey) return { record: undefined, isRepeated: false };
  const { key, route, fingerprint } = idempotencyKey;
  const scope = caller.role === "business" ? caller.businessId : caller.role === "admin" ? caller.keyId : caller.role;

  // When two first uses of a key start together, the second would wait at the unique index. With
  // this lock it is rejected at once.
  const [lock] = await em.execute<{ isLocked: boolean; ms: string }[]>(
    `select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as "isLocked", floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms`,
    [JSON.stringify([scope, route, key])],
  );
  const now = new Date(Number(lock?.ms));
  const heldUntil = heldMs === undefined ? null : new Date(now.getTime() + heldMs);
  const existing = await em.findOne(IdempotencyRecord, { scope, route, key });
  if (existing && !existing.isExpired(now)) {
    if (!isSameRequest(idempotencyKey, existing.fingerprint)) throw idempotencyKeyReused();
    if (existing.hasEnded()) {
      call.markReplayed();
      return { replayed: existing.replay(output) };
    }
    const record = lock?.isLocked && existing.isAbandoned(now) ? await lockUnfinished(em, existing.id) : null;
    if (!record) throw idempotencyInProgress();
    record.heldUntil = heldUntil;
    record.keptFrom = now;
    return { record, isRepeated: true };
  }
  if (!lock?.isLocked) throw idempotencyInProgress();
  if (existing) await em.nativeDelete(IdempotencyRecord, { id: existing.id });
  const record = em.create(IdempotencyRecord, { id: uuidv7(), scope, route, key, fingerprint, heldUntil, keptFrom: now });
  em.persist(record);
  return { record, isRepeated: false };
}

/** Returns null if the execution has ended, or if the transaction that ends it holds the lock. */
const lockUnfinished = (em: SqlEntityManager, id: string) =>
  em.findOne(
    IdempotencyRecord,
    { id, answer: null, refusal: null },
    { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, refresh: true },
  );

/**
 * Returns and locks the record of a claim, in the transaction that ends the work. To prevent
 * deadlocks, all code locks the row of the key before the rows that the work changes. Returns
 * undefined if there is no id or no such record.
 */
export async function lockKey(em: SqlEntityManager, id: string | null | undefined): Promise<IdempotencyRecord | undefined> {
  if (!id) return undefined;
  return (await em.findOne(IdempotencyRecord, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })) ?? undefined;
}
