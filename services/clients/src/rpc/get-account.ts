import type { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { accountNotFound } from "../account/account.errors.ts";
import { accountView, toAccountMessage } from "../account/account.message.ts";
import type { Context } from "../context.ts";

export const getAccount =
  ({ orm }: Context): Implementation<typeof AccountService.method.getAccount> =>
  async ({ id }, { caller }) => {
    const account = await accountView.read(orm.em, businessOf(caller), id);
    if (!account) throw accountNotFound();
    return toAccountMessage(account);
  };
