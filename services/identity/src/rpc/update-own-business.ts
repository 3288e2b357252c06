import type { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { databaseTime } from "@amana/database";
import { type Implementation, requireBusiness } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { previousKeyTtlInvalid } from "../api-key/api-key.errors.ts";
import type { KeyRing } from "../api-key/key-ring.ts";
import { changeBusiness } from "../business/change-business.ts";
import type { Context } from "../context.ts";

const previousKeyTtlSecondsMax = 7 * 24 * 60 * 60;

export const updateOwnBusiness =
  (context: Context): Implementation<typeof BusinessService.method.updateOwnBusiness> =>
  async ({ name, rotateApiKey, previousKeyTtlSeconds }, call) => {
    const { caller } = call;
    const businessId = requireBusiness(caller);
    if (previousKeyTtlSeconds < 0 || previousKeyTtlSeconds > previousKeyTtlSecondsMax) {
      throw previousKeyTtlInvalid(previousKeyTtlSecondsMax);
    }
    const rotation = async (keyRing: KeyRing, em: SqlEntityManager) => {
      const oldKey = keyRing.requireCallerKey(caller);
      if (previousKeyTtlSeconds === 0) return { oldKey };
      // Uses the database's clock, which also determines whether a key has expired.
      const now = await databaseTime(em);
      return { oldKey, endsAt: new Date(now.getTime() + 1_000 * previousKeyTtlSeconds) };
    };
    return await changeBusiness(context, call, businessId, { name, rotation: rotateApiKey ? rotation : undefined });
  };
