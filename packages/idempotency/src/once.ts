import { type Orm, transaction } from "@amana/database";
import type { Call } from "@amana/rpc";
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { claimKey } from "./claim-key.ts";

/**
 * Runs a use case that needs only one transaction, once per Idempotency-Key. The changes of `work`
 * and the response commit together. A repeated call gets the stored response. `now` is the time of
 * the claim by the database's clock; undefined if the call has no key. `withoutSecrets` removes
 * secrets from the response before it is stored, because a secret is returned only once.
 */
export async function once<O extends DescMessage>(
  orm: Orm,
  call: Call,
  output: O,
  work: (em: SqlEntityManager, now: Date | undefined) => Promise<MessageInitShape<O>>,
  withoutSecrets: (response: MessageInitShape<O>) => MessageInitShape<O> = (response) => response,
): Promise<MessageInitShape<O>> {
  return await transaction(orm, async (em) => {
    const claim = await claimKey(em, call, output);
    if ("replayed" in claim) return claim.replayed as MessageInitShape<O>;
    const response = await work(em, claim.now);
    claim.record?.storeResponse(output, withoutSecrets(response));
    return response;
  });
}
