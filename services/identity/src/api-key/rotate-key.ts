import { byCaller } from "@amana/messaging";
import type { Call } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { keepAction } from "../audit/audit-event.ts";
import type { Business } from "../business/business.ts";
import type { ApiKey } from "./api-key.ts";
import { defaultKeyName, type IssuedKey, type KeyRing } from "./key-ring.ts";

/**
 * Issues a key in the place of `old`, which ends now, or at `end`; without an old one it issues the business's only
 * live key. Writes the audit trail.
 */
export function rotateKey(
  em: SqlEntityManager,
  change: { business: Business; keyRing: KeyRing; old: ApiKey | undefined; end?: Date | undefined; now: Date; call: Call },
): IssuedKey {
  const { business, keyRing, old, end, now, call } = change;
  const before = old?.snapshot();
  const issued = old ? keyRing.replace(old, now, end) : keyRing.add(defaultKeyName, now);
  business.touch(now);

  const ended = old && { replaced_id: old.id, replaced_ends_at: (old.revokedAt ?? old.expiresAt)?.toISOString() ?? null };
  keepAction(em, now, {
    by: byCaller(call),
    action: old ? "api_key.rotated" : "api_key.created",
    entity: { type: "api_key", id: issued.apiKey.id },
    businessId: business.id,
    before,
    after: { ...issued.apiKey.snapshot(), ...ended },
  });
  return issued;
}
