import { lockRow, type Owner } from "@amana/database";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { clientNotFound } from "../client/client.errors.ts";
import { Client } from "../client/client.ts";
import { Onboarding } from "./onboarding.ts";

/**
 * A client's onboarding, kept from all others until the transaction ends. The client's row comes
 * first everywhere; otherwise this and an event of the client would wait for each other.
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
