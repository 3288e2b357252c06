import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { transaction } from "@amana/database";
import { businessOf, type Implementation } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { apiKeyReplaced, previousKeyTtlInvalid } from "../api-key/api-key.errors.ts";
import { takeKeyRing } from "../api-key/key-ring.ts";
import { rotateKey } from "../api-key/rotate-key.ts";
import { toBusinessMessage } from "../business/business.message.ts";
import { lockBusiness } from "../business/business.ts";
import { recordUpdate } from "../business/record-update.ts";
import type { Context } from "../context.ts";

const previousKeyTtlSecondsMax = 7 * 24 * 60 * 60;

export const updateOwnBusiness =
  ({ orm, clock, keyMode, leases }: Context): Implementation<typeof BusinessService.method.updateOwnBusiness> =>
  async (request, call) => {
    const { caller } = call;
    const businessId = businessOf(caller);
    const presentedKeyId = caller.role === "business" ? caller.keyId : "";
    const ttlSeconds = request.previousKeyTtlSeconds;
    if (ttlSeconds < 0 || ttlSeconds > previousKeyTtlSecondsMax) throw previousKeyTtlInvalid(previousKeyTtlSecondsMax);

    const { answer, isCutOff } = await transaction(orm, async (em) => {
      const business = await lockBusiness(em, businessId);
      const keyRing = await takeKeyRing(em, business, keyMode);
      const now = clock.now();

      recordUpdate(em, business, call, now, () => {
        if (request.name !== undefined) business.rename(request.name, now);
      });
      if (!request.rotateApiKey) {
        return { answer: toBusinessMessage(business, { apiKeyPrefix: keyRing.newest?.prefix }), isCutOff: false };
      }
      const old = keyRing.find(presentedKeyId);
      // A key in its last days must not make a lasting one, and so escape the rotation.
      if (!old || old.replacedBy) throw apiKeyReplaced();
      const end = ttlSeconds > 0 ? await secondsFromNow(em, ttlSeconds) : undefined;
      const { plaintext } = rotateKey(em, { business, keyRing, old, end, now, call });
      return {
        answer: toBusinessMessage(business, { apiKeyPrefix: keyRing.newest?.prefix, apiKey: plaintext }),
        isCutOff: true,
      };
    });

    if (isCutOff) await leases.ended();
    return answer;
  };

/** By the database's clock, the one that decides whether a key has expired. */
async function secondsFromNow(em: SqlEntityManager, seconds: number): Promise<Date> {
  const [row] = await em.execute<{ at: string }[]>("select clock_timestamp() + ? * interval '1 second' as at", [seconds]);
  return new Date(row?.at ?? Number.NaN);
}
