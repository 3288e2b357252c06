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
import { type AccountLimits, countedUse, givenBackUse, limitPeriods } from "./limit-use.ts";

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
    /** What counted against the limits by a day, YYYY-MM-DD, in that day, month and year. */
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

/** What a business may change. Null clears; limits are minor units of the account's currency. */
export type AccountChanges = Changes<Account, typeof UpdateAccountRequestSchema> & AccountLimits;

/**
 * Refuses limits that are not positive, or that fall from day to month to year. A missing one
 * limits nothing. `changed` are those that somebody names: the refusal points at one of them.
 */
export function checkLimits(limits: AccountLimits, changed: AccountLimits = limits): void {
  const set = limitPeriods.flatMap(({ limit, name }) => {
    const minor = limits[limit];
    if (minor != null && minor <= 0n) throw accountLimitInvalid(name);
    return minor == null ? [] : [{ name, minor, isChanged: limit in changed }];
  });
  for (const [at, limit] of set.entries()) {
    const next = set[at + 1];
    if (!next || limit.minor <= next.minor) continue;
    throw accountLimitsOutOfOrder(limit.name, next.name, limit.isChanged ? limit.name : next.name);
  }
}

/**
 * An account of a client: PENDING → ACTIVE ⇄ SUSPENDED, and CLOSED from each of them for good. What
 * is available and what holds reserve make up the current balance; none falls below zero. Whoever
 * changes one locks its row first. A method that refuses has changed nothing.
 */
export class Account extends schema.class {
  /** What a closed account was stays on record, without its business's note and id for it. */
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
    this.become("ACTIVE", now);
  }

  suspend(now: Date): void {
    this.require(["ACTIVE"], "suspended");
    this.become("SUSPENDED", now);
  }

  reactivate(now: Date): void {
    this.require(["SUSPENDED"], "reactivated");
    this.become("ACTIVE", now);
  }

  close(now: Date): void {
    this.require(["PENDING", "ACTIVE", "SUSPENDED"], "closed");
    if (this.currentBalanceMinor !== 0n || this.reservedBalanceMinor !== 0n) throw accountBalanceNotZero();
    this.become("CLOSED", now);
    this.closedAt = now;
  }

  credit(amountMinor: bigint, now: Date): void {
    this.requireActive();
    this.move(amountMinor, 0n, now);
  }

  /** Takes money out, within the limits. Returns the day it counts on. */
  debit(amountMinor: bigint, now: Date): string {
    this.requireFunds(amountMinor);
    const day = this.count(amountMinor, now);
    this.move(-amountMinor, 0n, now);
    return day;
  }

  /** Reserves money, which counts against the limits from now on. Returns the day it counts on. */
  hold(amountMinor: bigint, now: Date): string {
    this.requireFunds(amountMinor);
    const day = this.count(amountMinor, now);
    this.move(-amountMinor, amountMinor, now);
    return day;
  }

  /** Takes out what a hold reserved, or a part; the rest is available and counts no longer. */
  capture(hold: AccountPosting, amountMinor: bigint, now: Date): void {
    this.requireActive();
    if (amountMinor > hold.amountMinor) throw captureTooLarge();
    const rest = hold.amountMinor - amountMinor;
    this.giveBack(hold.countsOn, rest);
    this.move(rest, -hold.amountMinor, now);
  }

  /** Makes what a hold reserved available again. */
  release(hold: AccountPosting, now: Date): void {
    this.requireActive();
    this.giveBack(hold.countsOn, hold.amountMinor);
    this.move(hold.amountMinor, -hold.amountMinor, now);
  }

  /** Undoes a credit, a debit or a capture. No limit applies to a credit that is taken back. */
  reverse(posting: AccountPosting, now: Date): void {
    const { kind, amountMinor, countsOn } = posting;
    if (kind !== "CREDIT" && kind !== "DEBIT" && kind !== "CAPTURE") throw postingNotReversible();
    if (kind === "CREDIT") this.requireFunds(amountMinor);
    this.requireActive();
    this.giveBack(countsOn, amountMinor);
    this.move(kind === "CREDIT" ? -amountMinor : amountMinor, 0n, now);
  }

  private require(from: readonly AccountStatus[], verb: string): void {
    if (!from.includes(this.status)) throw accountStatusFixed(verb, from, this.status);
  }

  private become(status: AccountStatus, now: Date): void {
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

  /** Counts what goes out, unless that goes beyond a limit. */
  private count(amountMinor: bigint, now: Date): string {
    const use = countedUse(this, amountMinor, now);
    const broken = limitPeriods.find(({ limit, used }) => use[used] > (this[limit] ?? use[used]));
    if (broken) throw accountLimitExceeded(broken.name);
    Object.assign(this, use);
    return use.usedOn;
  }

  private giveBack(day: string | null | undefined, amountMinor: bigint): void {
    if (day != null) Object.assign(this, givenBackUse(this, day, amountMinor));
  }
}
schema.setClass(Account);
