import { type AccountService, UpdateAccountRequestSchema } from "@amana/contracts/clients/v1/account_service_pb";
import { changesOf, lockRow, refuseDuplicates, transaction } from "@amana/database";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { accountNotFound, externalAccountIdTaken } from "../account/account.errors.ts";
import { toAccountMessage } from "../account/account.message.ts";
import { Account } from "../account/account.ts";
import { readLimits } from "../account/read-limits.ts";
import type { Context } from "../context.ts";

const readChanges = changesOf(Account, UpdateAccountRequestSchema);

export const updateAccount =
  ({ orm, clock }: Context): Implementation<typeof AccountService.method.updateAccount> =>
  async (request, { caller }) => {
    const businessId = requireBusiness(caller);
    return await transaction(orm, async (em) => {
      const account = await lockRow(em, Account, businessId, request.id, accountNotFound);
      account.change({ ...readChanges(request), ...readLimits(request, account.currency) }, clock.now());
      refuseDuplicates(em, "account_business_external_id", externalAccountIdTaken);
      return toAccountMessage(account);
    });
  };
