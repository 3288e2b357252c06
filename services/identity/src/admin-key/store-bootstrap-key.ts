import { hashApiKey, prefixOf } from "@amana/api-keys";
import { transaction } from "@amana/database";
import { platformCaller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { auditChange } from "../audit/audit-event.ts";
import type { Context } from "../context.ts";
import { AdminKey, lockAdminKeys, bootstrapName as name } from "./admin-key.ts";

const byPlatform = { caller: platformCaller, requestId: "", address: "" };

/**
 * Stores the operator key in BOOTSTRAP_ADMIN_KEY and revokes the previous bootstrap key. Changes
 * nothing if the key is already stored, even if it is revoked. Therefore a replica with an outdated
 * setting does not restore a revoked key.
 */
export async function storeBootstrapKey(
  context: Pick<Context, "orm" | "clock" | "logger" | "leases">,
  key: string | undefined,
): Promise<void> {
  if (key === undefined) return;
  const { orm, clock, logger, leases } = context;
  const hash = hashApiKey(key);
  const now = clock.now();

  const hasReplacedKey = await transaction(orm, async (em) => {
    // If several replicas start at the same time, only the first replica stores the key.
    await lockAdminKeys(em);
    const existing = await em.findOne(AdminKey, { hash });
    if (existing?.revokedAt) {
      logger.warn({ key_prefix: existing.prefix }, "key in BOOTSTRAP_ADMIN_KEY is revoked, set a new key");
    }
    if (existing) return false;

    const formerKeys = await em.find(AdminKey, { name, revokedAt: null });
    for (const formerKey of formerKeys) {
      const before = formerKey.snapshot();
      formerKey.revoke(now);
      auditChange(em, now, byPlatform, "admin_key.revoked", formerKey, {
        before,
        reason: "replaced by a new BOOTSTRAP_ADMIN_KEY",
      });
    }
    const adminKey = em.create(AdminKey, { id: uuidv7(), name, prefix: prefixOf(key), hash, createdAt: now });
    em.persist(adminKey);
    auditChange(em, now, byPlatform, "admin_key.created", adminKey);
    return formerKeys.length > 0;
  });
  if (hasReplacedKey) await leases.waitUntilExpired();
}
