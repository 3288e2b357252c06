import { AccountSchema, AccountType } from "@amana/contracts/clients/v1/account_pb";
import type { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { refuseDuplicates } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Implementation, requestedName, requireBusiness } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { currencyNotSupported, externalAccountIdTaken } from "../account/account.errors.ts";
import { toAccountMessage } from "../account/account.message.ts";
import { Account, checkLimits } from "../account/account.ts";
import { buildAccountNumber } from "../account/account-number.ts";
import { readLimits } from "../account/read-limits.ts";
import { lockUnblockedClient } from "../client/lock-unblocked-client.ts";
import type { Context } from "../context.ts";

export const openAccount =
  ({ orm, clock, institution, currencies }: Context): Implementation<typeof AccountService.method.openAccount> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    return await once(orm, call, AccountSchema, async (em) => {
      const { currency } = request;
      if (!currencies.includes(currency)) throw currencyNotSupported(currencies);
      const limits = readLimits(request, currency);
      checkLimits(limits);
      const clientId = await lockUnblockedClient(em, businessId, request.clientId);

      const [sequenceRow] = await em.execute<{ account: string }[]>("select nextval('account_number') as account");
      const now = clock.now();
      const account = em.create(Account, {
        id: uuidv7(now.getTime()),
        businessId,
        clientId,
        accountName: request.accountName,
        accountNumber: buildAccountNumber(institution, BigInt(sequenceRow?.account ?? 0)),
        type: requestedName(AccountType, request.type) ?? "CURRENT",
        currency,
        currentBalanceMinor: 0n,
        availableBalanceMinor: 0n,
        reservedBalanceMinor: 0n,
        status: "PENDING",
        ...limits,
        usedOn: now.toISOString().slice(0, 10),
        usedDayMinor: 0n,
        usedMonthMinor: 0n,
        usedYearMinor: 0n,
        description: request.description,
        externalAccountId: request.externalAccountId,
        createdAt: now,
        updatedAt: now,
      });
      em.persist(account);
      refuseDuplicates(em, "account_business_external_id", externalAccountIdTaken);
      return toAccountMessage(account);
    });
  };
