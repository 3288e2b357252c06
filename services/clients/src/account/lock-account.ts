import { lockRow } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { accountNotFound } from "./account.errors.ts";
import { Account } from "./account.ts";

/** A business's account whose row waits for and keeps off all others until the transaction ends. */
export async function lockAccount(em: SqlEntityManager, businessId: string, id: string): Promise<Account> {
  const account = await lockRow(em, Account, businessId, id);
  if (!account) throw accountNotFound();
  return account;
}
