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
  accountStatusFixed,
  captureTooLarge,
  clientNotVerified,
  insufficientFunds,
  postingNotReversible,
} from "./account.errors.ts";
import type { AccountPosting } from "./account-posting.ts";
import { type AccountLimits, limitPeriods, withAmount, withoutAmount } from "./limit-use.ts";

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
     * Day (YYYY-MM-DD) of the newest counted amount. The three sums are of its day, month and year.
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
 * Changes by a business. Null clears a field. Limits are in minor units of the account's currency.
 */
export type AccountChanges = Changes<Account, typeof UpdateAccountRequestSchema> & AccountLimits;

/**
 * Throws if a limit is not positive, or if a shorter period has a greater limit than a longer one.
 * A missing limit is unlimited. `changed`: the limits in the request, to which the error points.
 */
export function checkLimits(limits: AccountLimits, changed: AccountLimits = limits): void {
  const limited = limitPeriods.flatMap(({ limit, name }) => {
    const minor = limits[limit];
    if (minor != null && minor <= 0n) throw accountLimitInvalid(name);
    return minor == null ? [] : [{ name, minor, isChanged: limit in changed }];
  });
  for (const [index, limit] of limited.entries()) {
    const next = limited[index + 1];
    if (!next || limit.minor <= next.minor) continue;
    throw accountLimitsOutOfOrder(limit.name, next.name, limit.isChanged ? limit.name : next.name);
  }
}

/**
 * An account of a client. Statuses: PENDING → ACTIVE ⇄ SUSPENDED, and CLOSED, which is final, from
 * each of them. The current balance is the sum of the available and the reserved balance. No
 * balance is negative. Callers lock the row before a change. A method that throws has changed
 * nothing.
 */
export class Account extends schema.class {
  /**
   * Changes the named fields. In a closed account, only the business's description and id may
   * change.
   */
  change(changes: AccountChanges, now: Date): void {
    const { description: _description, externalAccountId: _externalAccountId, ...terms } = changes;
    if (this.status === "CLOSED" && hasChanges<AccountChanges>(this, terms)) throw accountClosed();
    checkLimits({ ...this, ...changes }, changes);
    if (assignChanges<AccountChanges>(this, changes)) this.updatedAt = now;
  }

  activate(client: Client, now: Date): void {
    this.require(["PENDING"], "activated");
    if (client.blocked) throw clientBlocked("");
    if (client.kycStatus !== "VALIDATED" && client.kycLevel !== "NOT_REQUIRED") throw clientNotVerified();
    this.setStatus("ACTIVE", now);
  }

  suspend(now: Date): void {
    this.require(["ACTIVE"], "suspended");
    this.setStatus("SUSPENDED", now);
  }

  reactivate(now: Date): void {
    this.require(["SUSPENDED"], "reactivated");
    this.setStatus("ACTIVE", now);
  }

  close(now: Date): void {
    this.require(["PENDING", "ACTIVE", "SUSPENDED"], "closed");
    if (this.currentBalanceMinor !== 0n || this.reservedBalanceMinor !== 0n) throw accountBalanceNotZero();
    this.setStatus("CLOSED", now);
    this.closedAt = now;
  }

  credit(amountMinor: bigint, now: Date): void {
    this.requireActive();
    this.move(amountMinor, 0n, now);
  }

  /** Withdraws money within the limits. Returns the day on which the amount counts. */
  debit(amountMinor: bigint, now: Date): string {
    this.requireFunds(amountMinor);
    const day = this.countAmount(amountMinor, now);
    this.move(-amountMinor, 0n, now);
    return day;
  }

  /** Reserves money within the limits. Returns the day on which the amount counts. */
  hold(amountMinor: bigint, now: Date): string {
    this.requireFunds(amountMinor);
    const day = this.countAmount(amountMinor, now);
    this.move(-amountMinor, amountMinor, now);
    return day;
  }

  /** Withdraws the amount of a hold, or a part. The rest becomes available and is not counted. */
  capture(hold: AccountPosting, amountMinor: bigint, now: Date): void {
    this.requireActive();
    if (amountMinor > hold.amountMinor) throw captureTooLarge();
    const rest = hold.amountMinor - amountMinor;
    this.uncountAmount(hold.countsOn, rest);
    this.move(rest, -hold.amountMinor, now);
  }

  /** Makes the amount of a hold available again. */
  release(hold: AccountPosting, now: Date): void {
    this.requireActive();
    this.uncountAmount(hold.countsOn, hold.amountMinor);
    this.move(hold.amountMinor, -hold.amountMinor, now);
  }

  /**
   * Reverses a credit, a debit or a capture. The reversal of a credit does not count against
   * limits.
   */
  reverse(posting: AccountPosting, now: Date): void {
    const { kind, amountMinor, countsOn } = posting;
    if (kind !== "CREDIT" && kind !== "DEBIT" && kind !== "CAPTURE") throw postingNotReversible();
    if (kind === "CREDIT") this.requireFunds(amountMinor);
    this.requireActive();
    this.uncountAmount(countsOn, amountMinor);
    this.move(kind === "CREDIT" ? -amountMinor : amountMinor, 0n, now);
  }

  private require(from: readonly AccountStatus[], verb: string): void {
    if (!from.includes(this.status)) throw accountStatusFixed(verb, from, this.status);
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

  private move(availableMinor: bigint, reservedMinor: bigint, now: Date): void {
    this.availableBalanceMinor += availableMinor;
    this.reservedBalanceMinor += reservedMinor;
    this.currentBalanceMinor = this.availableBalanceMinor + this.reservedBalanceMinor;
    this.lastActivityAt = now;
    this.updatedAt = now;
  }

  /** Counts an outgoing amount against the limits. Throws if a limit would be exceeded. */
  private countAmount(amountMinor: bigint, now: Date): string {
    const use = withAmount(this, amountMinor, now);
    const exceeded = limitPeriods.find(({ limit, used }) => use[used] > (this[limit] ?? use[used]));
    if (exceeded) throw accountLimitExceeded(exceeded.name);
    Object.assign(this, use);
    return use.usedOn;
  }

  private uncountAmount(day: string | null | undefined, amountMinor: bigint): void {
    if (day != null) Object.assign(this, withoutAmount(this, day, amountMinor));
  }
}
schema.setClass(Account);
