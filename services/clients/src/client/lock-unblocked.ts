import { lockRow } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { clientBlocked, namedClientNotFound } from "./client.errors.ts";
import { Client } from "./client.ts";

/**
 * The client that a request opens something new for. A block that is committed by now counts, and
 * one that comes meanwhile waits for the transaction to end.
 */
export async function lockUnblocked(em: SqlEntityManager, businessId: string, id: string): Promise<Client> {
  const client = await lockRow(em, Client, businessId, id, namedClientNotFound);
  if (client.blocked) throw clientBlocked();
  return client;
}
