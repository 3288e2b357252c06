import type * as proto from "@amana/contracts/clients/v1/account_pb";
import type { UpdateAccountRequestSchema } from "@amana/contracts/clients/v1/account_service_pb";
import type { EnumName } from "@amana/contracts/enum-names";
import { assignChanges, type Changes, hasChanges } from "@amana/database";
import { defineEntity, p } from "@mikro-orm/postgresql";
import { clientBlocked } from "../client/client.errors.ts";
import type { Client } from "../client/client.ts";
import {
  accountBalanceNotZero,
  accountClosed,
  accountLimitExceeded,
  accountLimitInvalid,
  accountLimitsOutOfOrder,
  accountNotActive,
  accountStatusConflict,
  captureTooLarge,
  clientNotVerified,
  insufficientFunds,
  postingNotReversible,
} from "./account.errors.ts";
import type { AccountPosting } from "./account-posting.ts";
import { type AccountLimits, addToUse, limitPeriods, subtractFromUse } from "./limit-use.ts";

export type AccountType = EnumName<typeof proto.AccountType>;
export type AccountStatus = EnumName<typeof proto.AccountStatus>;

const schema = defineEntity({
  name: "Account",
  tableName: "account",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    clientId: p.uuid(),
    accountName: p.text(),
    accountNumber: p.text(),
    type: p.text().$type<AccountType>(),
    currency: p.text(),
    currentBalanceMinor: p.bigint("bigint"),
    availableBalanceMinor: p.bigint("bigint"),
    reservedBalanceMinor: p.bigint("bigint"),
    status: p.text().$type<AccountStatus>(),
    dailyLimitMinor: p.bigint("bigint").nullable(),
    monthlyLimitMinor: p.bigint("bigint").nullable(),
    yearlyLimitMinor: p.bigint("bigint").nullable(),
    /**
     * UTC day (YYYY-MM-DD) of the newest amount that counts against the limits. The next three
     * columns are the sums of the counted amounts in that day, that month and that year.
     */
    usedOn: p.text(),
    usedDayMinor: p.bigint("bigint"),
    usedMonthMinor: p.bigint("bigint"),
    usedYearMinor: p.bigint("bigint"),
    description: p.text().nullable(),
    externalAccountId: p.text().nullable(),
    closedAt: p.datetime(3).nullable(),
    lastActivityAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/**
 * Changes of an account that a business requests. Null clears a field. Limits are in minor units of
 * the account's currency.
 */
export type AccountChanges = Changes<Account, typeof UpdateAccountRequestSchema> & AccountLimits;

/**
 * Throws if a limit is not positive, or if a shorter period has a greater limit than a longer
 * period. A missing limit means no limit. `changed` contains the limits in the request. The error's
 * pointer names one of the limits in the request.
 */
export function checkLimits(limits: AccountLimits, changed: AccountLimits = limits): void {
  const definedLimits = limitPeriods.flatMap(({ limit, name }) => {
    const minor = limits[limit];
    if (minor != null && minor <= 0n) throw accountLimitInvalid(name);
    return minor == null ? [] : [{ name, minor, isChanged: limit in changed }];
  });
  for (const [index, limit] of definedLimits.entries()) {
    const longerLimit = definedLimits[index + 1];
    if (!longerLimit || limit.minor <= longerLimit.minor) continue;
    throw accountLimitsOutOfOrder(limit.name, longerLimit.name, limit.isChanged ? limit.name : longerLimit.name);
  }
}

/**
 * An account of a client. The status changes from PENDING to ACTIVE, and between ACTIVE and
 * SUSPENDED. Each of these statuses can change to CLOSED, which is final. The current balance is
 * the sum of the available and the reserved balance. No balance is negative. Callers must lock the
 * row before a change. If a method throws, it has changed nothing.
 */
export class Account extends schema.class {
  /**
   * Changes the fields in `changes`. If the account is CLOSED, only the description and the
   * external id can change.
   */
  change(changes: AccountChanges, now: Date): void {
    const { description: _description, externalAccountId: _externalAccountId, ...terms } = changes;
    if (this.status === "CLOSED" && hasChanges<AccountChanges>(this, terms)) throw accountClosed();
    checkLimits({ ...this, ...changes }, changes);
    if (assignChanges<AccountChanges>(this, changes)) this.updatedAt = now;
  }

  activate(client: Client, now: Date): void {
    this.requireStatus(["PENDING"], "activated");
    if (client.blocked) throw clientBlocked("");
    if (client.kycStatus !== "VALIDATED" && client.kycLevel !== "NOT_REQUIRED") throw clientNotVerified();
    this.setStatus("ACTIVE", now);
  }

  suspend(now: Date): void {
    this.requireStatus(["ACTIVE"], "suspended");
    this.setStatus("SUSPENDED", now);
  }

  reactivate(now: Date): void {
    this.requireStatus(["SUSPENDED"], "reactivated");
    this.setStatus("ACTIVE", now);
  }

  close(now: Date): void {
    this.requireStatus(["PENDING", "ACTIVE", "SUSPENDED"], "closed");
    if (this.currentBalanceMinor !== 0n || this.reservedBalanceMinor !== 0n) throw accountBalanceNotZero();
    this.setStatus("CLOSED", now);
    this.closedAt = now;
  }

  credit(amountMinor: bigint, now: Date): void {
    this.requireActive();
    this.changeBalances(amountMinor, 0n, now);
  }

  /**
   * Withdraws an amount. Returns the day on which the amount counts against the limits. Throws if
   * the amount exceeds the available balance or a limit.
   */
  debit(amountMinor: bigint, now: Date): string {
    this.requireFunds(amountMinor);
    const day = this.countAmount(amountMinor, now);
    this.changeBalances(-amountMinor, 0n, now);
    return day;
  }

  /**
   * Reserves an amount. Returns the day on which the amount counts against the limits. Throws if
   * the amount exceeds the available balance or a limit.
   */
  hold(amountMinor: bigint, now: Date): string {
    this.requireFunds(amountMinor);
    const day = this.countAmount(amountMinor, now);
    this.changeBalances(-amountMinor, amountMinor, now);
    return day;
  }

  /**
   * Withdraws the whole amount of a hold or a part of it. The remaining part becomes available and
   * no longer counts against the limits.
   */
  capture(hold: AccountPosting, amountMinor: bigint, now: Date): void {
    this.requireActive();
    if (amountMinor > hold.amountMinor) throw captureTooLarge();
    const remainderMinor = hold.amountMinor - amountMinor;
    this.uncountAmount(hold.countsOn, remainderMinor);
    this.changeBalances(remainderMinor, -hold.amountMinor, now);
  }

  /** Makes the amount of a hold available again. */
  release(hold: AccountPosting, now: Date): void {
    this.requireActive();
    this.uncountAmount(hold.countsOn, hold.amountMinor);
    this.changeBalances(hold.amountMinor, -hold.amountMinor, now);
  }

  /**
   * Reverses a credit, a debit or a capture. The reversal of a credit does not count against the
   * limits, although it withdraws money.
   */
  reverse(posting: AccountPosting, now: Date): void {
    const { kind, amountMinor, countsOn } = posting;
    if (kind !== "CREDIT" && kind !== "DEBIT" && kind !== "CAPTURE") throw postingNotReversible();
    if (kind === "CREDIT") this.requireFunds(amountMinor);
    this.requireActive();
    this.uncountAmount(countsOn, amountMinor);
    this.changeBalances(kind === "CREDIT" ? -amountMinor : amountMinor, 0n, now);
  }

  private requireStatus(allowedStatuses: readonly AccountStatus[], verb: string): void {
    if (!allowedStatuses.includes(this.status)) throw accountStatusConflict(verb, allowedStatuses, this.status);
  }

  private setStatus(status: AccountStatus, now: Date): void {
    this.status = status;
    this.updatedAt = now;
  }

  private requireActive(): void {
    if (this.status !== "ACTIVE") throw accountNotActive(this.status);
  }

  private requireFunds(amountMinor: bigint): void {
    this.requireActive();
    if (amountMinor > this.availableBalanceMinor) throw insufficientFunds();
  }

  private changeBalances(availableMinor: bigint, reservedMinor: bigint, now: Date): void {
    this.availableBalanceMinor += availableMinor;
    this.reservedBalanceMinor += reservedMinor;
    this.currentBalanceMinor = this.availableBalanceMinor + this.reservedBalanceMinor;
    this.lastActivityAt = now;
    this.updatedAt = now;
  }

  /**
   * Counts an outgoing amount against the limits. Returns the day on which the amount counts.
   * Throws if the amount exceeds a limit.
   */
  private countAmount(amountMinor: bigint, now: Date): string {
    const limitUse = addToUse(this, amountMinor, now);
    const exceededLimit = limitPeriods.find(({ limit, used }) => limitUse[used] > (this[limit] ?? limitUse[used]));
    if (exceededLimit) throw accountLimitExceeded(exceededLimit.name);
    Object.assign(this, limitUse);
    return limitUse.usedOn;
  }

  private uncountAmount(day: string | null | undefined, amountMinor: bigint): void {
    if (day != null) Object.assign(this, subtractFromUse(this, day, amountMinor));
  }
}
schema.setClass(Account);
