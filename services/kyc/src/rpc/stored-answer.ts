import { claimKey } from "@amana/idempotency";
import { type Call, DomainError } from "@amana/rpc";
import { sleep } from "@amana/runtime";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/**
 * The stored end of an earlier execution with the call's Idempotency-Key, if there is one. Takes nothing: an execution
 * that asks the provider is safe to repeat, so its key is taken only together with its end, and never stays taken by a
 * crash.
 */
export async function storedAnswer<O extends DescMessage>(
  em: SqlEntityManager,
  call: Call,
  output: O,
): Promise<MessageShape<O> | undefined> {
  const claim = await claimKey(em, call, output);
  if ("replayed" in claim) return claim.replayed;
  if (claim.record) em.remove(claim.record);
  return undefined;
}

const endingsMax = 50;
const pauseMs = 20;

/**
 * The transaction that ends such an execution and takes its key. The same request, sent once more, looks for the answer
 * under the lock that this one needs to store it. That takes a moment, and is no reason to refuse what has been done.
 */
export async function ending<T>(transaction: () => Promise<T>): Promise<T> {
  for (let endings = 1; ; endings++) {
    try {
      return await transaction();
    } catch (error) {
      if (!isKeyInUse(error) || endings === endingsMax) throw error;
      await sleep(pauseMs);
    }
  }
}

/** Somebody else works with the Idempotency-Key right now. */
export const isKeyInUse = (error: unknown): boolean => error instanceof DomainError && error.code === "idempotency_in_progress";
