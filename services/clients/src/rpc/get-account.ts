import type { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import { accountNotFound } from "../account/account.errors.ts";
import { toAccountMessage } from "../account/account.message.ts";
import { readAccount } from "../account/queries.ts";
import type { Context } from "../context.ts";

export const getAccount =
  ({ orm }: Context): Implementation<typeof AccountService.method.getAccount> =>
  async (request, { caller }) => {
    const businessId = businessOf(caller);
    if (!isUuid(request.id)) throw accountNotFound();
    const account = await readAccount(orm.em, businessId, request.id);
    if (!account) throw accountNotFound();
    return toAccountMessage(account);
  };
