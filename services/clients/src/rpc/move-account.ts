import { AccountSchema } from "@amana/contracts/clients/v1/account_pb";
import type { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { lockRow } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Call, type Implementation, requireBusiness } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { accountNotFound } from "../account/account.errors.ts";
import { toAccountMessage } from "../account/account.message.ts";
import { Account } from "../account/account.ts";
import { namedClientNotFound } from "../client/client.errors.ts";
import { Client } from "../client/client.ts";
import type { Context } from "../context.ts";

type Service = typeof AccountService.method;
type Moving<M extends Service[keyof Service]> = (context: Context) => Implementation<M>;

/** An RPC that moves an account from one status to another, once for each Idempotency-Key. */
const moving =
  (move: (account: Account, now: Date, em: SqlEntityManager) => void | Promise<void>) =>
  ({ orm, clock }: Context) =>
  async ({ id }: { id: string }, call: Call) => {
    const businessId = requireBusiness(call.caller);
    return await once(orm, call, AccountSchema, async (em) => {
      const account = await lockRow(em, Account, businessId, id, accountNotFound);
      await move(account, clock.now(), em);
      return toAccountMessage(account);
    });
  };

export const activateAccount: Moving<Service["activateAccount"]> = moving(async (account, now, em) => {
  // Held, so that nobody blocks the client between this look and the activation.
  const { businessId, clientId } = account;
  account.activate(await lockRow(em, Client, businessId, clientId, namedClientNotFound), now);
});

export const suspendAccount: Moving<Service["suspendAccount"]> = moving((account, now) => account.suspend(now));
export const reactivateAccount: Moving<Service["reactivateAccount"]> = moving((account, now) => account.reactivate(now));
export const closeAccount: Moving<Service["closeAccount"]> = moving((account, now) => account.close(now));
