import { Account } from "../src/account/account.ts";
import { AccountPosting } from "../src/account/account-posting.ts";
import { Client } from "../src/client/client.ts";

export const openedAt = new Date("2026-03-31T22:00:00.000Z");

/**
 * Returns an ACTIVE account with an available balance of 1000.00 dinars and no limits. The account
 * is not stored in a database.
 */
export const anAccount = (changes: Partial<Account> = {}): Account =>
  Object.assign(new Account(), {
    id: "0195a000-0000-7000-8000-000000000001",
    businessId: "0195a000-0000-7000-8000-000000000002",
    clientId: "0195a000-0000-7000-8000-000000000003",
    accountName: "Household",
    accountNumber: "00799999002345678941",
    type: "CURRENT",
    currency: "DZD",
    currentBalanceMinor: 100_000n,
    availableBalanceMinor: 100_000n,
    reservedBalanceMinor: 0n,
    status: "ACTIVE",
    usedOn: "2026-03-31",
    usedDayMinor: 0n,
    usedMonthMinor: 0n,
    usedYearMinor: 0n,
    createdAt: openedAt,
    updatedAt: openedAt,
    ...changes,
  });

/**
 * Returns a hold of 100.00 dinars on the day `usedOn` of `anAccount`. The hold is not stored in a
 * database.
 */
export const aPosting = (changes: Partial<AccountPosting> = {}): AccountPosting =>
  Object.assign(new AccountPosting(), {
    id: "0195a000-0000-7000-8000-000000000004",
    kind: "HOLD",
    amountMinor: 10_000n,
    reference: "r-1",
    countsOn: "2026-03-31",
    createdAt: openedAt,
    ...changes,
  });

/** Returns a verified, unblocked client. The client is not stored in a database. */
export const aClient = (changes: Partial<Client> = {}): Client =>
  Object.assign(new Client(), { blocked: false, isBlacklisted: false, kycLevel: "FULL_KYC", kycStatus: "VALIDATED", ...changes });
