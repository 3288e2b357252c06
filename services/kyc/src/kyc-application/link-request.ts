import { idempotencyInProgress, idempotencyKeyReused } from "@amana/idempotency";
import type { IdempotencyKey } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

interface LinkRequest {
  application_id: string;
  fingerprint: string;
  is_leased: boolean;
  is_old: boolean;
}

/**
 * The id under which the provider is asked for an application: the same one whenever the same Idempotency-Key comes
 * again, which makes the provider answer with the same application. Held until nobody waits for the answer any more.
 * Runs under the lock that `claimKey` takes on the key. Refuses a key that is in use, or was used for something else.
 */
export async function takeLinkRequest(
  em: SqlEntityManager,
  businessId: string,
  { route, key, fingerprint }: IdempotencyKey,
  heldMs: number,
): Promise<string> {
  const [known] = await em.execute<LinkRequest[]>(
    `select application_id, fingerprint, leased_until > now() as is_leased, created_at < now() - interval '24 hours' as is_old
     from link_request where business_id = ? and route = ? and key = ?`,
    [businessId, route, key],
  );
  if (known && (known.is_leased || !known.is_old)) {
    if (known.fingerprint !== fingerprint) throw idempotencyKeyReused();
    if (known.is_leased) throw idempotencyInProgress();
    await em.execute(`update link_request set leased_until = now() + ? * interval '1 millisecond' where application_id = ?`, [
      heldMs,
      known.application_id,
    ]);
    return known.application_id;
  }
  if (known) await deleteLinkRequest(em, known.application_id);
  const applicationId = uuidv7();
  await em.execute(
    `insert into link_request (application_id, business_id, route, key, fingerprint, leased_until)
     values (?, ?, ?, ?, ?, now() + ? * interval '1 millisecond')`,
    [applicationId, businessId, route, key, fingerprint, heldMs],
  );
  return applicationId;
}

/** The outcome is unknown: the next request with the key asks again at once, under the same id. */
export async function releaseLinkRequest(em: SqlEntityManager, applicationId: string): Promise<void> {
  await em.execute("update link_request set leased_until = now() where application_id = ?", [applicationId]);
}

/** The application is there, or surely never will be. */
export async function deleteLinkRequest(em: SqlEntityManager, applicationId: string): Promise<void> {
  await em.execute("delete from link_request where application_id = ?", [applicationId]);
}
