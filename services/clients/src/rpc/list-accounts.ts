import type { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { toAccountMessage } from "../account/account.message.ts";
import { accountList } from "../account/queries.ts";
import { checkNamedClient } from "../client/check-named-client.ts";
import type { Context } from "../context.ts";

export const listAccounts =
  ({ orm }: Context): Implementation<typeof AccountService.method.listAccounts> =>
  async (request, { caller }) => {
    const businessId = businessOf(caller);
    await checkNamedClient(orm.em, businessId, request.clientId);
    const { rows, ...total } = await accountList.page(orm.em, businessId, request);
    return { accounts: rows.map((row) => toAccountMessage(row)), ...total };
  };
