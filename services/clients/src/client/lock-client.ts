import { isUuid } from "@amana/runtime";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { Client } from "./client.ts";

/** A business's client whose row waits for and keeps off all others until the transaction ends. Any business's without one. */
export async function lockClient(em: SqlEntityManager, id: string, businessId?: string): Promise<Client | null> {
  return await find(em, id, businessId, LockMode.PESSIMISTIC_WRITE);
}

/** A business's client that nobody changes until the transaction ends; several may hold it at the same time. */
export async function holdClient(em: SqlEntityManager, id: string, businessId: string): Promise<Client | null> {
  return await find(em, id, businessId, LockMode.PESSIMISTIC_READ);
}

async function find(em: SqlEntityManager, id: string, businessId: string | undefined, lockMode: LockMode) {
  if (!isUuid(id)) return null;
  return await em.findOne(Client, businessId === undefined ? { id } : { id, businessId }, { lockMode });
}
