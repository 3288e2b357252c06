import { lockRow } from "@amana/database";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { Client } from "./client.ts";

/** A business's client that nobody changes until the transaction ends; several may hold it at the same time. */
export const holdClient = (em: SqlEntityManager, id: string, businessId: string): Promise<Client | null> =>
  lockRow(em, Client, businessId, id, LockMode.PESSIMISTIC_READ);
