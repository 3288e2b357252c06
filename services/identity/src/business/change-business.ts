import { isDeepStrictEqual } from "node:util";
import { transaction } from "@amana/database";
import type { Call } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { ApiKey } from "../api-key/api-key.ts";
import { defaultKeyName, type KeyRing, lockKeyRing } from "../api-key/key-ring.ts";
import { auditChange } from "../audit/audit-event.ts";
import type { Context } from "../context.ts";
import { logAccessRemoval } from "../key-lease/lease-wait.ts";
import { toBusinessMessage } from "./business.message.ts";
import { type Business, type BusinessStatus, lockBusiness } from "./business.ts";

/**
 * Replacement of `oldKey`. The old key expires at `endsAt`, or is revoked immediately if `endsAt`
 * is absent. `oldKey` is undefined if the business has no live key.
 */
interface Rotation {
  readonly oldKey: ApiKey | undefined;
  readonly endsAt?: Date;
}

interface Changes {
  readonly name: string | undefined;
  readonly status?: BusinessStatus;
  /** Selects the key to replace. Undefined if the request does not rotate a key. */
  readonly rotation: ((keyRing: KeyRing, em: SqlEntityManager) => Rotation | Promise<Rotation>) | undefined;
}

/**
 * Changes a business and writes audit rows. If the change removes or limits the access of a key,
 * returns only after all key leases have expired.
 */
export async function changeBusiness(context: Context, call: Call, id: string, { name, status, rotation }: Changes) {
  const { orm, clock, keyMode, leases, logger } = context;
  const { message, endedKeyId } = await transaction(orm, async (em) => {
    const business = await lockBusiness(em, id);
    const keyRing = await lockKeyRing(em, business, keyMode);
    const now = clock.now();

    const before = business.snapshot();
    if (name !== undefined) business.rename(name, now);
    if (status) business.changeStatus(status, now);
    if (!isDeepStrictEqual(business.snapshot(), before)) auditChange(em, now, call, "business.updated", business, { before });

    const rotationResult = await rotation?.(keyRing, em);
    const apiKey = rotationResult && (await rotateKey(em, call, now, { business, keyRing, ...rotationResult }));
    return {
      message: toBusinessMessage(business, { apiKeyPrefix: keyRing.newestKey?.prefix, apiKey }),
      endedKeyId: rotationResult?.oldKey?.id,
    };
  });

  if (endedKeyId !== undefined || status === "DISABLED") {
    logAccessRemoval(logger, { business_id: id, api_key_id: endedKeyId, status });
    await leases.waitUntilExpired();
  }
  return message;
}

/**
 * Replaces `oldKey` by a new key, or adds a key if `oldKey` is undefined. Returns the plaintext of
 * the new key.
 */
async function rotateKey(
  em: SqlEntityManager,
  call: Call,
  now: Date,
  change: Rotation & { business: Business; keyRing: KeyRing },
) {
  const { business, keyRing, oldKey, endsAt } = change;
  const before = oldKey?.snapshot();
  const { apiKey, plaintext } = oldKey ? await keyRing.replace(oldKey, now, endsAt) : keyRing.add(defaultKeyName, now);
  business.touch(now);

  const endedKeyFields = oldKey && {
    replaced_id: oldKey.id,
    replaced_ends_at: (oldKey.revokedAt ?? oldKey.expiresAt)?.toISOString() ?? null,
  };
  auditChange(em, now, call, oldKey ? "api_key.rotated" : "api_key.created", apiKey, {
    before,
    after: { ...apiKey.snapshot(), ...endedKeyFields },
  });
  return plaintext;
}
