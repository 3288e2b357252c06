import { type Orm, transaction } from "@amana/database";
import type { Call } from "@amana/rpc";
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { claimKey } from "./claim-key.ts";

/**
 * Runs a use case that is one transaction, once for each Idempotency-Key: effect and stored answer
 * commit together, and a repeated call gets the stored answer. `withoutSecrets` makes what is
 * stored from what is answered, because a secret is shown once.
 */
export async function once<O extends DescMessage>(
  orm: Orm,
  call: Call,
  output: O,
  work: (em: SqlEntityManager) => Promise<MessageInitShape<O>>,
  withoutSecrets: (answer: MessageInitShape<O>) => MessageInitShape<O> = (answer) => answer,
): Promise<MessageInitShape<O>> {
  return await transaction(orm, async (em) => {
    const claim = await claimKey(em, call, output);
    if ("replayed" in claim) return claim.replayed as MessageInitShape<O>;
    const answer = await work(em);
    claim.record?.storeAnswer(output, withoutSecrets(answer));
    return answer;
  });
}
