import { databaseTime } from "@amana/database";
import type { Action } from "@amana/messaging";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { keepAction } from "../audit/audit-event.ts";
import { ApiKey } from "./api-key.ts";

/** By a person at the database, while no gateway asks whose keys are good: nobody has to wait. */
export async function revokeKey(
  em: SqlEntityManager,
  id: string,
  { by, reason }: Pick<Action, "by" | "reason">,
): Promise<"revoked" | "before" | "unknown"> {
  const apiKey = await em.findOne(ApiKey, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!apiKey) return "unknown";
  const now = await databaseTime(em);
  const before = apiKey.snapshot();
  if (!apiKey.revoke(now)) return "before";
  const { businessId } = apiKey;
  const entity = { type: "api_key", id };
  keepAction(em, now, { by, action: "api_key.revoked", entity, businessId, before, after: apiKey.snapshot(), reason });
  return "revoked";
}
