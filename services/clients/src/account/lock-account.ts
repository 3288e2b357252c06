import { isUuid } from "@amana/runtime";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { accountNotFound } from "./account.errors.ts";
import { Account } from "./account.ts";

/** A business's account whose row waits for and keeps off all others until the transaction ends. */
export async function lockAccount(em: SqlEntityManager, businessId: string, id: string): Promise<Account> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const account = isUuid(id) ? await em.findOne(Account, { id, businessId }, { lockMode }) : null;
  if (!account) throw accountNotFound();
  return account;
}
