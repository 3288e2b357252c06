import { lockRow, type Owner } from "@amana/database";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { clientNotFound } from "../client/client.errors.ts";
import { Client } from "../client/client.ts";
import { Onboarding } from "./onboarding.ts";

/**
 * Locks a client and its onboarding until the transaction ends. Always locks the client's row
 * first, to prevent deadlocks with the consumer of KYC events.
 */
export async function lockOnboarding(
  em: SqlEntityManager,
  owner: Owner,
  clientId: string,
): Promise<{ client: Client; onboarding: Onboarding }> {
  const client = await lockRow(em, Client, owner, clientId, clientNotFound);
  const where = { businessId: client.businessId, clientId: client.id };
  return { client, onboarding: await em.findOneOrFail(Onboarding, where, { lockMode: LockMode.PESSIMISTIC_WRITE }) };
}
