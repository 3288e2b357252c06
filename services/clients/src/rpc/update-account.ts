import type { AccountService, UpdateAccountRequest } from "@amana/contracts/clients/v1/account_service_pb";
import { transaction } from "@amana/database";
import { businessOf, type Implementation } from "@amana/rpc";
import { toAccountMessage } from "../account/account.message.ts";
import type { AccountChanges } from "../account/account.ts";
import { type LimitTexts, limitsGiven } from "../account/limits-given.ts";
import { lockAccount } from "../account/lock-account.ts";
import { refusingTakenExternalId } from "../account/taken-external-id.ts";
import { namedFields } from "../changes.ts";
import type { Context } from "../context.ts";

export const updateAccount =
  ({ orm, clock }: Context): Implementation<typeof AccountService.method.updateAccount> =>
  async (request, { caller }) => {
    const businessId = businessOf(caller);
    return await transaction(orm, async (em) => {
      const account = await lockAccount(em, businessId, request.id);
      account.change(changesOf(request, account.currency), clock.now());
      await refusingTakenExternalId(() => em.flush());
      return toAccountMessage(account);
    });
  };

function changesOf(request: UpdateAccountRequest, currency: string): AccountChanges {
  const { accountName, description, externalAccountId, dailyLimit, monthlyLimit, yearlyLimit, cleared } = request;
  const limits = namedFields<LimitTexts>({ dailyLimit, monthlyLimit, yearlyLimit }, cleared, [
    "dailyLimit",
    "monthlyLimit",
    "yearlyLimit",
  ]);
  return {
    ...namedFields<AccountChanges>({ accountName, description, externalAccountId }, cleared, [
      "description",
      "externalAccountId",
    ]),
    ...limitsGiven(limits, currency),
  };
}
