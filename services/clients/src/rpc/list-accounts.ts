import { AccountStatus, AccountType } from "@amana/contracts/clients/v1/account_pb";
import type { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { businessOf, enumName, type Implementation } from "@amana/rpc";
import { toAccountMessage } from "../account/account.message.ts";
import { readAccounts } from "../account/queries.ts";
import { checkNamedClient } from "../client/check-named-client.ts";
import type { Context } from "../context.ts";

export const listAccounts =
  ({ orm }: Context): Implementation<typeof AccountService.method.listAccounts> =>
  async (request, { caller }) => {
    const businessId = businessOf(caller);
    await checkNamedClient(orm.em, businessId, request.clientId);
    const filter = {
      clientId: request.clientId,
      type: enumName(AccountType, request.type),
      status: enumName(AccountStatus, request.status),
      currency: request.currency,
      search: request.search,
    };
    const { rows, ...total } = await readAccounts(orm.em, businessId, filter, request);
    return { accounts: rows.map(toAccountMessage), ...total };
  };
