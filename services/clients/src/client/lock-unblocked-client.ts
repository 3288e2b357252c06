import { isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { clientBlocked, referencedClientNotFound } from "./client.errors.ts";

/**
 * Locks the client for which a request creates a resource, and returns the client's id. Throws
 * `client_not_found` or `client_blocked`. A concurrent request that blocks the client waits until
 * the transaction ends. Reads only two columns, because the ORM needs much CPU time for an entity
 * that it manages.
 */
export async function lockUnblockedClient(em: SqlEntityManager, businessId: string, id: string): Promise<string> {
  const text = "select id, blocked from client where business_id = ? and id = ? for update";
  const [client] = isUuid(id) ? await em.execute<{ id: string; blocked: boolean }[]>(text, [businessId, id]) : [];
  if (!client) throw referencedClientNotFound();
  if (client.blocked) throw clientBlocked();
  return client.id;
}
