import { databaseTime } from "@amana/database";
import { dateOf } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { apiKeyEndInvalid } from "./api-key.errors.ts";

/** Until when and from where a key may be used; without bounds where nothing is said. */
export interface KeyLimits {
  readonly expiresAt?: Date | null | undefined;
  /** CIDRs in canonical form. */
  readonly allowedIps?: string[] | null | undefined;
}

/** Times are shown with a year of four digits. */
const endMax = new Date("9999-12-31T23:59:59.999Z");

/** Of a key that is asked for. Throws a refusal for an end that has passed. */
export async function readKeyLimits(
  em: SqlEntityManager,
  { expiresAtMs, allowedIps }: { readonly expiresAtMs?: bigint | undefined; readonly allowedIps: string[] },
): Promise<KeyLimits> {
  const expiresAt = dateOf(expiresAtMs);
  if (expiresAt) {
    // By the clock that decides whether a key has expired.
    const now = await databaseTime(em);
    if (!(expiresAt > now && expiresAt <= endMax)) throw apiKeyEndInvalid();
  }
  return { expiresAt, allowedIps: allowedIps.length > 0 ? allowedIps : null };
}
