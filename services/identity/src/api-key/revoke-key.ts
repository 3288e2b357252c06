import { databaseTime } from "@amana/database";
import type { Action } from "@amana/messaging";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { AdminKey } from "../admin-key/admin-key.ts";
import { keepAction } from "../audit/audit-event.ts";
import { ApiKey } from "./api-key.ts";

/**
 * A business's key or an operator's, by a person at the database, while no gateway asks whose keys
 * are good: nobody has to wait.
 */
export async function revokeKey(
  em: SqlEntityManager,
  id: string,
  { by, reason }: Pick<Action, "by" | "reason">,
): Promise<"revoked" | "before" | "unknown"> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const apiKey = await em.findOne(ApiKey, { id }, { lockMode });
  const key = apiKey ?? (await em.findOne(AdminKey, { id }, { lockMode }));
  if (!key) return "unknown";
  const now = await databaseTime(em);
  const before = key.snapshot();
  if (!key.revoke(now)) return "before";
  const type = apiKey ? "api_key" : "admin_key";
  const after = key.snapshot();
  keepAction(em, now, {
    by,
    action: `${type}.revoked`,
    entity: { type, id },
    businessId: apiKey?.businessId,
    before,
    after,
    reason,
  });
  return "revoked";
}
