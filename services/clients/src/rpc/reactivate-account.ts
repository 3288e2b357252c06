import { AccountSchema } from "@amana/contracts/clients/v1/account_pb";
import type { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { once } from "@amana/idempotency";
import { businessOf, type Implementation } from "@amana/rpc";
import { toAccountMessage } from "../account/account.message.ts";
import { lockAccount } from "../account/lock-account.ts";
import type { Context } from "../context.ts";

export const reactivateAccount =
  ({ orm, clock }: Context): Implementation<typeof AccountService.method.reactivateAccount> =>
  async (request, call) => {
    const businessId = businessOf(call.caller);
    return await once(orm, call, AccountSchema, async (em) => {
      const account = await lockAccount(em, businessId, request.id);
      account.reactivate(clock.now());
      return toAccountMessage(account);
    });
  };
