import type { Call } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { keepChange } from "../audit/audit-event.ts";
import type { Business } from "../business/business.ts";
import type { ApiKey } from "./api-key.ts";
import { defaultKeyName, type IssuedKey, type KeyRing } from "./key-ring.ts";

/**
 * Issues a key in the place of `old`, which ends now, or at `end`; without an old one it issues the
 * business's only live key. Writes the audit trail.
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
  keepChange(em, now, call, old ? "api_key.rotated" : "api_key.created", issued.apiKey, {
    before,
    after: { ...issued.apiKey.snapshot(), ...ended },
  });
  return issued;
}
