import { databaseTime } from "@amana/database";
import type { Action } from "@amana/messaging";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { AdminKey } from "../admin-key/admin-key.ts";
import { auditAction } from "../audit/audit-event.ts";
import { ApiKey } from "./api-key.ts";

/**
 * Revokes an API key or an operator key. The command `amana` calls this function after a restore of
 * the database and before the API is opened. At that time no gateway has a key lease, so the
 * function does not wait for leases. Returns "before" if the key was already revoked, and "unknown"
 * if no key has the id.
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
  auditAction(em, now, {
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
