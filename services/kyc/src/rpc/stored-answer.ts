import { claimKey } from "@amana/idempotency";
import type { Call } from "@amana/rpc";
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
