import { describe, expect, test } from "vitest";
import { aClient, anAccount, aPosting, openedAt } from "../../test/an-account.ts";
import type { Account, AccountChanges, AccountStatus } from "./account.ts";

const now = new Date("2026-03-31T23:00:00.000Z");
const tomorrow = new Date("2026-04-01T00:00:00.000Z");
const errorWithCode = (code: string) => expect.objectContaining({ code });

/** Runs a change that must throw the error `code`, and verifies that the account is unchanged. */
function expectRefusal(account: Account, change: () => unknown, code: string): void {
  const accountBefore = { ...account };
  expect(change).toThrow(errorWithCode(code));
  expect({ ...account }).toEqual(accountBefore);
}

const balancesOf = (account: Account) => [
  account.currentBalanceMinor,
  account.availableBalanceMinor,
  account.reservedBalanceMinor,
];
const zeroBalances = { currentBalanceMinor: 0n, availableBalanceMinor: 0n };

describe("account status", () => {
  const transitions = {
    activate: { from: ["PENDING"], to: "ACTIVE", act: (account: Account) => account.activate(aClient(), now) },
    suspend: { from: ["ACTIVE"], to: "SUSPENDED", act: (account: Account) => account.suspend(now) },
    reactivate: { from: ["SUSPENDED"], to: "ACTIVE", act: (account: Account) => account.reactivate(now) },
    close: { from: ["PENDING", "ACTIVE", "SUSPENDED"], to: "CLOSED", act: (account: Account) => account.close(now) },
  } as const;
  const statuses: AccountStatus[] = ["PENDING", "ACTIVE", "SUSPENDED", "CLOSED"];
  const pairs = (Object.keys(transitions) as (keyof typeof transitions)[]).flatMap((verb) =>
    statuses.map((status) => ({ verb, status, isAllowed: (transitions[verb].from as readonly string[]).includes(status) })),
  );

  test.each(pairs.filter(({ isAllowed }) => isAllowed))(
    "Account.$verb sets the new status and updatedAt of an account in the status $status",
    ({ verb, status }) => {
      const account = anAccount({ status, ...zeroBalances });
      transitions[verb].act(account);
      expect(account).toMatchObject({ status: transitions[verb].to, updatedAt: now });
      if (verb === "close") expect(account.closedAt).toEqual(now);
      else expect(account.closedAt).toBeUndefined();
    },
  );

  test.each(pairs.filter(({ isAllowed }) => !isAllowed))(
    "Account.$verb throws invalid_status_transition for an account in the status $status",
    ({ verb, status }) => {
      const account = anAccount({ status, ...zeroBalances });
      expectRefusal(account, () => transitions[verb].act(account), "invalid_status_transition");
      const allowed = transitions[verb].from.join(" or ");
      expect(() => transitions[verb].act(account)).toThrow(new RegExp(`is ${status}. Only an account that is ${allowed}`));
    },
  );

  test.each([
    [{ kycStatus: "NOT_STARTED" }, "client_not_verified"],
    [{ kycStatus: "CREATED" }, "client_not_verified"],
    [{ kycStatus: "PROCESSING" }, "client_not_verified"],
    [{ kycStatus: "PENDING_REVIEW" }, "client_not_verified"],
    [{ kycStatus: "DECLINED" }, "client_not_verified"],
    [{ kycStatus: "ABORTED", kycLevel: "DOC_ONLY" }, "client_not_verified"],
    [{ blocked: true }, "client_blocked"],
    [{ blocked: true, kycLevel: "NOT_REQUIRED" }, "client_blocked"],
    [{ blocked: true, kycStatus: "NOT_STARTED" }, "client_blocked"],
  ] as const)("Account.activate for a client with %j throws %s", (clientFields, code) => {
    const account = anAccount({ status: "PENDING" });
    expectRefusal(account, () => account.activate(aClient(clientFields), now), code);
  });

  test.each([
    { kycStatus: "VALIDATED" },
    { kycStatus: "VALIDATED", kycLevel: "DOC_ONLY" },
    { kycStatus: "NOT_STARTED", kycLevel: "NOT_REQUIRED" },
    { kycStatus: "DECLINED", kycLevel: "NOT_REQUIRED" },
    { isBlacklisted: true },
  ] as const)("Account.activate sets the status ACTIVE if the client has %j", (clientFields) => {
    const account = anAccount({ status: "PENDING" });
    account.activate(aClient(clientFields), now);
    expect(account.status).toBe("ACTIVE");
  });

  test.each([
    { currentBalanceMinor: 1n, availableBalanceMinor: 1n, reservedBalanceMinor: 0n },
    { currentBalanceMinor: 1n, availableBalanceMinor: 0n, reservedBalanceMinor: 1n },
  ])("Account.close throws account_balance_not_zero for the balances %o", (balances) => {
    const account = anAccount(balances);
    expectRefusal(account, () => account.close(now), "account_balance_not_zero");
  });
});

describe("account change", () => {
  const limitFields = { dailyLimitMinor: 100n, monthlyLimitMinor: 200n, yearlyLimitMinor: 300n };

  test("Account.change updates only the given fields and updatedAt", () => {
    const account = anAccount({ description: "old", externalAccountId: "x-1" });
    account.change({ accountName: "Savings", description: null }, now);
    expect(account).toMatchObject({ accountName: "Savings", description: null, externalAccountId: "x-1", updatedAt: now });
  });

  test("Account.change keeps updatedAt if all given values are the current values", () => {
    const account = anAccount(limitFields);
    account.change({ dailyLimitMinor: 100n, description: null }, now);
    expect(account.updatedAt).toEqual(openedAt);
  });

  test.each<[AccountChanges, string]>([
    [{ dailyLimitMinor: 201n }, "daily_limit"],
    [{ monthlyLimitMinor: 301n }, "monthly_limit"],
    [{ monthlyLimitMinor: 99n }, "monthly_limit"],
    [{ yearlyLimitMinor: 199n }, "yearly_limit"],
    [{ monthlyLimitMinor: null, dailyLimitMinor: 301n }, "daily_limit"],
    [{ monthlyLimitMinor: null, yearlyLimitMinor: 99n }, "yearly_limit"],
  ])("Account.change throws account_limits_out_of_order for the limits %o, with a pointer to %s", (changes, field) => {
    const account = anAccount(limitFields);
    expectRefusal(account, () => account.change(changes, now), "account_limits_out_of_order");
    expect(() => account.change(changes, now)).toThrow(expect.objectContaining({ pointer: `/${field}` }));
  });

  test.each<AccountChanges>([
    { dailyLimitMinor: 200n },
    { dailyLimitMinor: 300n, monthlyLimitMinor: 300n },
    { monthlyLimitMinor: null },
    { dailyLimitMinor: null, monthlyLimitMinor: 1n },
    { dailyLimitMinor: 1_000n, monthlyLimitMinor: null, yearlyLimitMinor: null },
  ])("Account.change accepts the limits %o", (changes) => {
    const account = anAccount(limitFields);
    account.change(changes, now);
    expect(account).toMatchObject(changes);
  });

  test.each([0n, -1n])("Account.change throws account_limit_invalid for a limit of %i", (minor) => {
    for (const name of ["dailyLimitMinor", "monthlyLimitMinor", "yearlyLimitMinor"] as const) {
      const account = anAccount();
      expectRefusal(account, () => account.change({ [name]: minor }, now), "account_limit_invalid");
    }
  });
});

describe("account balances", () => {
  test("the methods `credit`, `debit`, `hold`, `capture` and `release` of Account change the balances and lastActivityAt", () => {
    const account = anAccount();
    account.credit(500n, now);
    expect(balancesOf(account)).toEqual([100_500n, 100_500n, 0n]);
    account.debit(500n, now);
    expect(balancesOf(account)).toEqual([100_000n, 100_000n, 0n]);
    account.hold(10_000n, now);
    expect(balancesOf(account)).toEqual([100_000n, 90_000n, 10_000n]);
    account.capture(aPosting(), 4_000n, now);
    expect(balancesOf(account)).toEqual([96_000n, 96_000n, 0n]);
    account.hold(10_000n, now);
    account.release(aPosting(), now);
    expect(balancesOf(account)).toEqual([96_000n, 96_000n, 0n]);
    expect(account).toMatchObject({ lastActivityAt: now, updatedAt: now });
  });

  test.each(["CREDIT", "DEBIT", "CAPTURE"] as const)("Account.reverse undoes the balance change of a %s posting", (kind) => {
    const account = anAccount();
    account.reverse(aPosting({ kind, amountMinor: 300n, countsOn: null }), now);
    const balanceAfter = kind === "CREDIT" ? 99_700n : 100_300n;
    expect(balancesOf(account)).toEqual([balanceAfter, balanceAfter, 0n]);
  });

  test.each(["HOLD", "RELEASE", "REVERSAL"] as const)(
    "Account.reverse throws posting_not_reversible for a %s posting and changes no balance",
    (kind) => {
      const account = anAccount();
      expectRefusal(account, () => account.reverse(aPosting({ kind }), now), "posting_not_reversible");
    },
  );

  test("the methods `debit`, `hold` and `reverse` of Account throw insufficient_funds for an amount above the available balance", () => {
    const account = anAccount({ availableBalanceMinor: 500n, reservedBalanceMinor: 99_500n });
    for (const change of [
      () => account.debit(501n, now),
      () => account.hold(501n, now),
      () => account.reverse(aPosting({ kind: "CREDIT", amountMinor: 501n }), now),
    ]) {
      expectRefusal(account, change, "insufficient_funds");
    }
    account.debit(500n, now);
    expect(balancesOf(account)).toEqual([99_500n, 0n, 99_500n]);
  });

  test("Account.capture throws capture_too_large for an amount above the hold, and changes no balance", () => {
    const account = anAccount({ availableBalanceMinor: 90_000n, reservedBalanceMinor: 10_000n });
    expectRefusal(account, () => account.capture(aPosting(), 10_001n, now), "capture_too_large");
  });

  test.each(["PENDING", "SUSPENDED", "CLOSED"] as const)(
    "the methods of Account that change a balance throw account_not_active if the account's status is %s",
    (status) => {
      const account = anAccount({ status, availableBalanceMinor: 90_000n, reservedBalanceMinor: 10_000n });
      for (const change of [
        () => account.credit(1n, now),
        () => account.debit(1n, now),
        () => account.hold(1n, now),
        () => account.capture(aPosting(), 1n, now),
        () => account.release(aPosting(), now),
        () => account.reverse(aPosting({ kind: "CREDIT" }), now),
        () => account.reverse(aPosting({ kind: "DEBIT" }), now),
      ]) {
        expectRefusal(account, change, "account_not_active");
      }
    },
  );
});

describe("account limits", () => {
  const anAccountWithLimits = (limits: AccountChanges) => anAccount(limits);

  test.each(["dailyLimitMinor", "monthlyLimitMinor", "yearlyLimitMinor"] as const)(
    "the methods `debit` and `hold` of Account throw account_limit_exceeded when the used amount would exceed %s",
    (name) => {
      const account = anAccountWithLimits({ [name]: 1_000n });
      account.debit(400n, now);
      account.hold(600n, now);
      expectRefusal(account, () => account.debit(1n, now), "account_limit_exceeded");
      expectRefusal(account, () => account.hold(1n, now), "account_limit_exceeded");
    },
  );

  test("Account.debit throws account_limit_exceeded with the name of the exceeded limit", () => {
    const account = anAccountWithLimits({ dailyLimitMinor: 100n, monthlyLimitMinor: 150n, yearlyLimitMinor: 160n });
    const limitOf = (change: () => unknown) => {
      try {
        change();
      } catch (error) {
        return (error as { members: Record<string, string> }).members["limit"];
      }
      return undefined;
    };
    expect(limitOf(() => account.debit(101n, now))).toBe("daily_limit");
    account.debit(100n, now);
    expect(limitOf(() => account.debit(100n, tomorrow))).toBe("yearly_limit");
    account.change({ yearlyLimitMinor: null, monthlyLimitMinor: 100n }, now);
    account.debit(50n, tomorrow);
    expect(limitOf(() => account.debit(60n, new Date("2026-04-02T00:00:00Z")))).toBe("monthly_limit");
  });

  test("Account.debit applies the limits separately to each UTC day, month and year", () => {
    const dateOf = (text: string) => new Date(text);
    const dailyLimited = anAccountWithLimits({ dailyLimitMinor: 100n });
    dailyLimited.debit(100n, dateOf("2026-03-31T23:59:59.999Z"));
    dailyLimited.debit(100n, dateOf("2026-04-01T00:00:00.000Z"));
    expectRefusal(dailyLimited, () => dailyLimited.debit(1n, dateOf("2026-04-01T23:59:59.999Z")), "account_limit_exceeded");
    const monthlyLimited = anAccountWithLimits({ monthlyLimitMinor: 100n });
    monthlyLimited.debit(100n, dateOf("2026-03-31T23:59:59.999Z"));
    monthlyLimited.debit(100n, dateOf("2026-04-01T00:00:00.000Z"));
    expectRefusal(monthlyLimited, () => monthlyLimited.debit(1n, dateOf("2026-04-30T23:59:59.999Z")), "account_limit_exceeded");
    const yearlyLimited = anAccountWithLimits({ yearlyLimitMinor: 100n });
    yearlyLimited.debit(100n, dateOf("2026-12-31T23:59:59.999Z"));
    yearlyLimited.debit(100n, dateOf("2027-01-01T00:00:00.000Z"));
    expectRefusal(yearlyLimited, () => yearlyLimited.debit(1n, dateOf("2027-12-31T23:59:59.999Z")), "account_limit_exceeded");
  });

  test("Account.debit does not count the amounts of the same day and month of the previous year towards the limits", () => {
    const account = anAccountWithLimits({ dailyLimitMinor: 100n, monthlyLimitMinor: 100n });
    account.debit(100n, now);
    account.debit(100n, new Date("2027-03-31T12:00:00Z"));
    expect(account.usedMonthMinor).toBe(100n);
  });

  test("Account.debit counts an amount on the day of the latest debit if the replica's clock is still on an earlier day", () => {
    const account = anAccountWithLimits({ dailyLimitMinor: 100n });
    account.debit(60n, tomorrow);
    expectRefusal(account, () => account.debit(41n, now), "account_limit_exceeded");
    expect(account.debit(40n, now)).toBe("2026-04-01");
  });

  test("the capture of a hold and the reversal of a credit do not increase the used amounts of an Account's limits", () => {
    const account = anAccountWithLimits({ dailyLimitMinor: 10_000n });
    account.hold(10_000n, now);
    account.capture(aPosting(), 10_000n, now);
    account.reverse(aPosting({ kind: "CREDIT", countsOn: null }), now);
    expect(balancesOf(account)).toEqual([80_000n, 80_000n, 0n]);
  });

  test("the methods `release`, `capture` and `reverse` of Account reduce the used amounts of the current day, month and year by the released, uncaptured or reversed amount", () => {
    const account = anAccountWithLimits({ dailyLimitMinor: 10_000n, monthlyLimitMinor: 10_000n, yearlyLimitMinor: 20_000n });
    account.hold(10_000n, now);
    account.release(aPosting(), now);
    account.hold(10_000n, now);
    account.capture(aPosting(), 4_000n, now);
    account.debit(6_000n, now);
    expectRefusal(account, () => account.debit(1n, now), "account_limit_exceeded");
    account.reverse(aPosting({ kind: "DEBIT", amountMinor: 6_000n }), now);
    account.debit(6_000n, now);
    // The day and the month of the capture have ended, so the reversal changes only the sum of the
    // year.
    account.debit(10_000n, tomorrow);
    account.reverse(aPosting({ kind: "CAPTURE", amountMinor: 4_000n }), tomorrow);
    expect([account.usedDayMinor, account.usedMonthMinor, account.usedYearMinor]).toEqual([10_000n, 10_000n, 16_000n]);
  });

  test("Account.debit throws account_limit_exceeded for the rest of the day if the daily limit is reduced below the day's used amount", () => {
    const account = anAccountWithLimits({ dailyLimitMinor: 1_000n });
    account.debit(900n, now);
    account.change({ dailyLimitMinor: 500n }, now);
    expectRefusal(account, () => account.debit(1n, now), "account_limit_exceeded");
    account.debit(500n, tomorrow);
  });
});
