import { lockRow } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { clientBlocked, referencedClientNotFound } from "./client.errors.ts";
import { Client } from "./client.ts";

/**
 * Locks and returns the client for which a request creates a resource. Throws `client_not_found` or
 * `client_blocked`. A concurrent request that blocks the client waits until the transaction ends.
 */
export async function lockUnblockedClient(em: SqlEntityManager, businessId: string, id: string): Promise<Client> {
  const client = await lockRow(em, Client, businessId, id, referencedClientNotFound);
  if (client.blocked) throw clientBlocked();
  return client;
}
