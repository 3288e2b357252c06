import { hashApiKey, prefixOf } from "@amana/api-keys";
import { transaction } from "@amana/database";
import { platformCaller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { keepChange } from "../audit/audit-event.ts";
import type { Context } from "../context.ts";
import { AdminKey, lockAdminKeys, bootstrapName as name } from "./admin-key.ts";

const byPlatform = { caller: platformCaller, requestId: "", address: "" };

/**
 * Makes the deployment's operator key known and revokes the one it takes the place of. A key that
 * is known already changes nothing, even when it is revoked: a replica that restarts with an
 * outdated setting brings nothing back.
 */
export async function storeBootstrapKey(
  context: Pick<Context, "orm" | "clock" | "logger" | "leases">,
  key: string | undefined,
): Promise<void> {
  if (key === undefined) return;
  const { orm, clock, logger, leases } = context;
  const hash = hashApiKey(key);
  const now = clock.now();

  const replaced = await transaction(orm, async (em) => {
    // Replicas start together; the second one waits here and then finds the key.
    await lockAdminKeys(em);
    const known = await em.findOne(AdminKey, { hash });
    if (known?.revokedAt) {
      logger.warn({ key_prefix: known.prefix }, "BOOTSTRAP_ADMIN_KEY is a revoked key and stays refused; set a new one");
    }
    if (known) return false;

    const former = await em.find(AdminKey, { name, revokedAt: null });
    for (const old of former) {
      const before = old.snapshot();
      old.revoke(now);
      keepChange(em, now, byPlatform, "admin_key.revoked", old, { before, reason: "replaced by a new BOOTSTRAP_ADMIN_KEY" });
    }
    const adminKey = em.create(AdminKey, { id: uuidv7(), name, prefix: prefixOf(key), hash, createdAt: now });
    em.persist(adminKey);
    keepChange(em, now, byPlatform, "admin_key.created", adminKey);
    return former.length > 0;
  });
  if (replaced) await leases.ended();
}
