import { AccountSchema } from "@amana/contracts/clients/v1/account_pb";
import type { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { lockRow } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Call, type Implementation, requireBusiness } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { accountNotFound } from "../account/account.errors.ts";
import { toAccountMessage } from "../account/account.message.ts";
import { Account } from "../account/account.ts";
import { referencedClientNotFound } from "../client/client.errors.ts";
import { Client } from "../client/client.ts";
import type { Context } from "../context.ts";

type AccountMethods = typeof AccountService.method;
type StatusRpc<M extends AccountMethods[keyof AccountMethods]> = (context: Context) => Implementation<M>;

/** Creates an RPC that changes the status of an account once per Idempotency-Key. */
const changeStatus =
  (change: (account: Account, now: Date, em: SqlEntityManager) => void | Promise<void>) =>
  ({ orm, clock }: Context) =>
  async ({ id }: { id: string }, call: Call) => {
    const businessId = requireBusiness(call.caller);
    return await once(orm, call, AccountSchema, async (em) => {
      const account = await lockRow(em, Account, businessId, id, accountNotFound);
      await change(account, clock.now(), em);
      return toAccountMessage(account);
    });
  };

export const activateAccount: StatusRpc<AccountMethods["activateAccount"]> = changeStatus(async (account, now, em) => {
  // Locks the client, so that no concurrent request can block it between the check and the commit.
  const { businessId, clientId } = account;
  account.activate(await lockRow(em, Client, businessId, clientId, referencedClientNotFound), now);
});

export const suspendAccount: StatusRpc<AccountMethods["suspendAccount"]> = changeStatus((account, now) => account.suspend(now));
export const reactivateAccount: StatusRpc<AccountMethods["reactivateAccount"]> = changeStatus((account, now) =>
  account.reactivate(now),
);
export const closeAccount: StatusRpc<AccountMethods["closeAccount"]> = changeStatus((account, now) => account.close(now));
