import { everyBusiness, lockRow } from "@amana/database";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { Client } from "../client/client.ts";
import { Onboarding } from "./onboarding.ts";

/**
 * The onboarding of a business's client, kept from all others until the transaction ends. The client's row is locked first,
 * because details refer to it: locked the other way round, they and an event of the client would wait for each other.
 */
export async function lockOnboarding(em: SqlEntityManager, clientId: string, businessId: string): Promise<Onboarding | null> {
  if (!(await lockRow(em, Client, businessId, clientId))) return null;
  return await em.findOne(Onboarding, { clientId, businessId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** A client of any business with its onboarding. The client's row is locked first, everywhere. */
export async function lockBoth(
  em: SqlEntityManager,
  clientId: string,
): Promise<{ client: Client; onboarding: Onboarding } | undefined> {
  const client = await lockRow(em, Client, everyBusiness, clientId);
  if (!client) return undefined;
  const onboarding = await em.findOneOrFail(Onboarding, { clientId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return { client, onboarding };
}
