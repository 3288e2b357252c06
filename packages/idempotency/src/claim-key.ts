import type { Call } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { IdempotencyRecord } from "./record.ts";
import { idempotencyInProgress, idempotencyKeyReused } from "./refusals.ts";

/** Either the stored answer of an earlier execution, or the right to execute (without a record when no key was sent). */
export type Claim<Answer> = { replayed: Answer } | { record: IdempotencyRecord | undefined };

const keptMs = 24 * 60 * 60 * 1000;

/**
 * Takes the call's Idempotency-Key inside the transaction that begins the work. The claim is visible to others
 * once that transaction commits and vanishes with a rollback, so refusals by our own rules leave no trace. Until the
 * record gets an answer or a refusal, other calls with the key are told that the first one is in progress; for a day
 * after the first use they then get that answer or refusal.
 * Throws the stored refusal, `idempotency_key_reused` or `idempotency_in_progress`.
 */
export async function claimKey<O extends DescMessage>(
  em: SqlEntityManager,
  call: Call,
  output: O,
): Promise<Claim<MessageShape<O>>> {
  const { idempotencyKey, caller } = call;
  if (!idempotencyKey) return { record: undefined };
  const { key, route, fingerprint } = idempotencyKey;
  const scope = caller.role === "business" ? caller.businessId : caller.role === "admin" ? caller.keyId : caller.role;

  // Two first uses at the same instant: the unique index would make the second wait, the lock lets it say so.
  const [lock] = await em.execute<{ got: boolean }[]>("select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as got", [
    JSON.stringify([scope, route, key]),
  ]);
  const known = await em.findOne(IdempotencyRecord, { scope, route, key });
  // An execution whose outcome is unknown stays in progress however old it is: to run it again could do it twice.
  if (known && (!known.hasEnded() || known.createdAt.getTime() > Date.now() - keptMs)) {
    if (known.fingerprint !== fingerprint) throw idempotencyKeyReused();
    if (!known.hasEnded()) throw idempotencyInProgress();
    call.markReplayed();
    return { replayed: known.replay(output) };
  }
  if (!lock?.got) throw idempotencyInProgress();
  if (known) await em.nativeDelete(IdempotencyRecord, { id: known.id });
  const record = em.create(IdempotencyRecord, { id: uuidv7(), scope, route, key, fingerprint, createdAt: new Date() });
  em.persist(record);
  return { record };
}
