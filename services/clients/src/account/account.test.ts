import { describe, expect, test } from "vitest";
import { aClient, anAccount, aPosting, openedAt } from "../../test/an-account.ts";
import type { Account, AccountChanges, AccountStatus } from "./account.ts";

const now = new Date("2026-03-31T23:00:00.000Z");
const tomorrow = new Date("2026-04-01T00:00:00.000Z");
const refusedWith = (code: string) => expect.objectContaining({ code });

/** Runs what is to be refused and makes sure that it changed nothing. */
function expectRefusal(account: Account, act: () => unknown, code: string): void {
  const before = { ...account };
  expect(act).toThrow(refusedWith(code));
  expect({ ...account }).toEqual(before);
}

const balances = (account: Account) => [account.currentBalanceMinor, account.availableBalanceMinor, account.reservedBalanceMinor];
const emptied = { currentBalanceMinor: 0n, availableBalanceMinor: 0n };

describe("the status of an account", () => {
  const moves = {
    activate: { from: ["PENDING"], to: "ACTIVE", act: (account: Account) => account.activate(aClient(), now) },
    suspend: { from: ["ACTIVE"], to: "SUSPENDED", act: (account: Account) => account.suspend(now) },
    reactivate: { from: ["SUSPENDED"], to: "ACTIVE", act: (account: Account) => account.reactivate(now) },
    close: { from: ["PENDING", "ACTIVE", "SUSPENDED"], to: "CLOSED", act: (account: Account) => account.close(now) },
  } as const;
  const statuses: AccountStatus[] = ["PENDING", "ACTIVE", "SUSPENDED", "CLOSED"];
  const pairs = (Object.keys(moves) as (keyof typeof moves)[]).flatMap((verb) =>
    statuses.map((status) => ({ verb, status, isAllowed: (moves[verb].from as readonly string[]).includes(status) })),
  );

  test.each(pairs.filter(({ isAllowed }) => isAllowed))("$verb moves on from $status", ({ verb, status }) => {
    const account = anAccount({ status, ...emptied });
    moves[verb].act(account);
    expect(account).toMatchObject({ status: moves[verb].to, updatedAt: now });
    if (verb === "close") expect(account.closedAt).toEqual(now);
    else expect(account.closedAt).toBeUndefined();
  });

  test.each(pairs.filter(({ isAllowed }) => !isAllowed))("$verb is refused from $status", ({ verb, status }) => {
    const account = anAccount({ status, ...emptied });
    expectRefusal(account, () => moves[verb].act(account), "invalid_status_transition");
    expect(() => moves[verb].act(account)).toThrow(new RegExp(`is ${status}; only one that is ${moves[verb].from.join(" or ")}`));
  });

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
  ] as const)("is not activated for a client with %j: %s", (standing, code) => {
    const account = anAccount({ status: "PENDING" });
    expectRefusal(account, () => account.activate(aClient(standing), now), code);
  });

  test.each([
    { kycStatus: "VALIDATED" },
    { kycStatus: "VALIDATED", kycLevel: "DOC_ONLY" },
    { kycStatus: "NOT_STARTED", kycLevel: "NOT_REQUIRED" },
    { kycStatus: "DECLINED", kycLevel: "NOT_REQUIRED" },
    { isBlacklisted: true },
  ] as const)("is activated for a client with %j", (standing) => {
    const account = anAccount({ status: "PENDING" });
    account.activate(aClient(standing), now);
    expect(account.status).toBe("ACTIVE");
  });

  test.each([
    { currentBalanceMinor: 1n, availableBalanceMinor: 1n, reservedBalanceMinor: 0n },
    { currentBalanceMinor: 1n, availableBalanceMinor: 0n, reservedBalanceMinor: 1n },
  ])("does not become CLOSED while there is money: %o", (balances) => {
    const account = anAccount(balances);
    expectRefusal(account, () => account.close(now), "account_balance_not_zero");
  });
});

describe("a change of an account", () => {
  const limited = { dailyLimitMinor: 100n, monthlyLimitMinor: 200n, yearlyLimitMinor: 300n };

  test("takes over what is named and nothing else, and notes when", () => {
    const account = anAccount({ description: "old", externalAccountId: "x-1" });
    account.change({ accountName: "Savings", description: null }, now);
    expect(account).toMatchObject({ accountName: "Savings", description: null, externalAccountId: "x-1", updatedAt: now });
  });

  test("that changes nothing leaves no trace", () => {
    const account = anAccount(limited);
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
  ])("to %o is refused at %s, because the limits would fall", (changes, field) => {
    const account = anAccount(limited);
    expectRefusal(account, () => account.change(changes, now), "account_limits_out_of_order");
    expect(() => account.change(changes, now)).toThrow(expect.objectContaining({ pointer: `/${field}` }));
  });

  test.each<AccountChanges>([
    { dailyLimitMinor: 200n },
    { dailyLimitMinor: 300n, monthlyLimitMinor: 300n },
    { monthlyLimitMinor: null },
    { dailyLimitMinor: null, monthlyLimitMinor: 1n },
    { dailyLimitMinor: 1_000n, monthlyLimitMinor: null, yearlyLimitMinor: null },
  ])("to %o keeps the limits in order", (changes) => {
    const account = anAccount(limited);
    account.change(changes, now);
    expect(account).toMatchObject(changes);
  });

  test.each([0n, -1n])("to a limit of %i is refused", (minor) => {
    for (const name of ["dailyLimitMinor", "monthlyLimitMinor", "yearlyLimitMinor"] as const) {
      const account = anAccount();
      expectRefusal(account, () => account.change({ [name]: minor }, now), "account_limit_invalid");
    }
  });
});

describe("money on an account", () => {
  test("moves with credits, debits, holds and what becomes of them, and the account notes when", () => {
    const account = anAccount();
    account.credit(500n, now);
    expect(balances(account)).toEqual([100_500n, 100_500n, 0n]);
    account.debit(500n, now);
    expect(balances(account)).toEqual([100_000n, 100_000n, 0n]);
    account.hold(10_000n, now);
    expect(balances(account)).toEqual([100_000n, 90_000n, 10_000n]);
    account.capture(aPosting(), 4_000n, now);
    expect(balances(account)).toEqual([96_000n, 96_000n, 0n]);
    account.hold(10_000n, now);
    account.release(aPosting(), now);
    expect(balances(account)).toEqual([96_000n, 96_000n, 0n]);
    expect(account).toMatchObject({ lastActivityAt: now, updatedAt: now });
  });

  test.each(["CREDIT", "DEBIT", "CAPTURE"] as const)("comes back where it was when a %s is reversed", (kind) => {
    const account = anAccount();
    account.reverse(aPosting({ kind, amountMinor: 300n, countsOn: null }), now);
    const after = kind === "CREDIT" ? 99_700n : 100_300n;
    expect(balances(account)).toEqual([after, after, 0n]);
  });

  test.each(["HOLD", "RELEASE", "REVERSAL"] as const)("a %s cannot be reversed", (kind) => {
    const account = anAccount();
    expectRefusal(account, () => account.reverse(aPosting({ kind }), now), "posting_not_reversible");
  });

  test("never falls below zero, and what is reserved cannot be spent", () => {
    const account = anAccount({ availableBalanceMinor: 500n, reservedBalanceMinor: 99_500n });
    for (const act of [
      () => account.debit(501n, now),
      () => account.hold(501n, now),
      () => account.reverse(aPosting({ kind: "CREDIT", amountMinor: 501n }), now),
    ]) {
      expectRefusal(account, act, "insufficient_funds");
    }
    account.debit(500n, now);
    expect(balances(account)).toEqual([99_500n, 0n, 99_500n]);
  });

  test("is captured only up to what was held", () => {
    const account = anAccount({ availableBalanceMinor: 90_000n, reservedBalanceMinor: 10_000n });
    expectRefusal(account, () => account.capture(aPosting(), 10_001n, now), "capture_too_large");
  });

  test.each(["PENDING", "SUSPENDED", "CLOSED"] as const)("does not move while the account is %s", (status) => {
    const account = anAccount({ status, availableBalanceMinor: 90_000n, reservedBalanceMinor: 10_000n });
    for (const act of [
      () => account.credit(1n, now),
      () => account.debit(1n, now),
      () => account.hold(1n, now),
      () => account.capture(aPosting(), 1n, now),
      () => account.release(aPosting(), now),
      () => account.reverse(aPosting({ kind: "CREDIT" }), now),
      () => account.reverse(aPosting({ kind: "DEBIT" }), now),
    ]) {
      expectRefusal(account, act, "account_not_active");
    }
  });
});

describe("limits", () => {
  const limited = (limits: AccountChanges) => anAccount(limits);

  test.each(["dailyLimitMinor", "monthlyLimitMinor", "yearlyLimitMinor"] as const)(
    "%s stops debits and holds beyond it",
    (name) => {
      const account = limited({ [name]: 1_000n });
      account.debit(400n, now);
      account.hold(600n, now);
      expectRefusal(account, () => account.debit(1n, now), "account_limit_exceeded");
      expectRefusal(account, () => account.hold(1n, now), "account_limit_exceeded");
    },
  );

  test("name the one that stands in the way", () => {
    const account = limited({ dailyLimitMinor: 100n, monthlyLimitMinor: 150n, yearlyLimitMinor: 160n });
    const limitOf = (act: () => unknown) => {
      try {
        act();
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

  test("begin anew with the day, the month and the year of UTC, to the millisecond", () => {
    const at = (text: string) => new Date(text);
    const daily = limited({ dailyLimitMinor: 100n });
    daily.debit(100n, at("2026-03-31T23:59:59.999Z"));
    daily.debit(100n, at("2026-04-01T00:00:00.000Z"));
    expectRefusal(daily, () => daily.debit(1n, at("2026-04-01T23:59:59.999Z")), "account_limit_exceeded");
    const monthly = limited({ monthlyLimitMinor: 100n });
    monthly.debit(100n, at("2026-03-31T23:59:59.999Z"));
    monthly.debit(100n, at("2026-04-01T00:00:00.000Z"));
    expectRefusal(monthly, () => monthly.debit(1n, at("2026-04-30T23:59:59.999Z")), "account_limit_exceeded");
    const yearly = limited({ yearlyLimitMinor: 100n });
    yearly.debit(100n, at("2026-12-31T23:59:59.999Z"));
    yearly.debit(100n, at("2027-01-01T00:00:00.000Z"));
    expectRefusal(yearly, () => yearly.debit(1n, at("2027-12-31T23:59:59.999Z")), "account_limit_exceeded");
  });

  test("the same month or day of another year is another one", () => {
    const account = limited({ dailyLimitMinor: 100n, monthlyLimitMinor: 100n });
    account.debit(100n, now);
    account.debit(100n, new Date("2027-03-31T12:00:00Z"));
    expect(account.usedMonthMinor).toBe(100n);
  });

  test("cannot be used twice by clocks that disagree around midnight", () => {
    const account = limited({ dailyLimitMinor: 100n });
    account.debit(60n, tomorrow);
    expectRefusal(account, () => account.debit(41n, now), "account_limit_exceeded");
    expect(account.debit(40n, now)).toBe("2026-04-01");
  });

  test("do not stand in the way of captures and of taking credits back", () => {
    const account = limited({ dailyLimitMinor: 10_000n });
    account.hold(10_000n, now);
    account.capture(aPosting(), 10_000n, now);
    account.reverse(aPosting({ kind: "CREDIT", countsOn: null }), now);
    expect(balances(account)).toEqual([80_000n, 80_000n, 0n]);
  });

  test("have room again for what was released, not captured, or reversed, in the periods that still run", () => {
    const account = limited({ dailyLimitMinor: 10_000n, monthlyLimitMinor: 10_000n, yearlyLimitMinor: 20_000n });
    account.hold(10_000n, now);
    account.release(aPosting(), now);
    account.hold(10_000n, now);
    account.capture(aPosting(), 4_000n, now);
    account.debit(6_000n, now);
    expectRefusal(account, () => account.debit(1n, now), "account_limit_exceeded");
    account.reverse(aPosting({ kind: "DEBIT", amountMinor: 6_000n }), now);
    account.debit(6_000n, now);
    // The day and the month are over: only the year gets back what counted in them.
    account.debit(10_000n, tomorrow);
    account.reverse(aPosting({ kind: "CAPTURE", amountMinor: 4_000n }), tomorrow);
    expect([account.usedDayMinor, account.usedMonthMinor, account.usedYearMinor]).toEqual([10_000n, 10_000n, 16_000n]);
  });

  test("that were lowered below what is used stop what comes next, and take nothing back", () => {
    const account = limited({ dailyLimitMinor: 1_000n });
    account.debit(900n, now);
    account.change({ dailyLimitMinor: 500n }, now);
    expectRefusal(account, () => account.debit(1n, now), "account_limit_exceeded");
    account.debit(500n, tomorrow);
  });
});
