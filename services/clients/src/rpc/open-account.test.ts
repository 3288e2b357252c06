import { AccountStatus, AccountType } from "@amana/contracts/clients/v1/account_pb";
import { allBusinesses, lockRow } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { anAccountRequest, type Harness, startHarness } from "../../test/harness.ts";
import { accountNumber } from "../account/account-number.ts";
import { clientNotFound } from "../client/client.errors.ts";
import { Client } from "../client/client.ts";

let harness: Harness;
const caller = aBusinessCaller();
let clientId: string;
beforeAll(async () => {
  harness = await startHarness();
  clientId = (await harness.createPerson(caller)).id;
});
afterEach(() => {
  harness.clock.nowMs = undefined;
});
afterAll(() => harness[Symbol.asyncDispose]());

const open = (changes: object = {}, options: object = {}) =>
  harness.accounts.openAccount({ ...anAccountRequest, clientId, ...changes }, { caller, ...options });
const count = async () => (await harness.sql<{ n: number }>("select count(*)::int as n from account"))[0]?.n ?? 0;

describe("opening an account", () => {
  test("stores and answers all that was sent, PENDING, with zero balances", async () => {
    const nowMs = Date.UTC(2026, 2, 1, 10);
    harness.clock.nowMs = nowMs;
    const account = await open({
      type: AccountType.ESCROW,
      dailyLimit: "100",
      monthlyLimit: "1000.5",
      yearlyLimit: "999999999999999.99",
      description: "for the house",
      externalAccountId: "house-1",
    });
    expect(account).toMatchObject({
      businessId: caller.businessId,
      clientId,
      accountName: "Household",
      type: AccountType.ESCROW,
      currency: "DZD",
      status: AccountStatus.PENDING,
      currentBalanceMinor: 0n,
      availableBalanceMinor: 0n,
      reservedBalanceMinor: 0n,
      createdAtMs: BigInt(nowMs),
      updatedAtMs: BigInt(nowMs),
      dailyLimitMinor: 10_000n,
      monthlyLimitMinor: 100_050n,
      yearlyLimitMinor: 99_999_999_999_999_999n,
      description: "for the house",
      externalAccountId: "house-1",
    });
    expect([account.closedAtMs, account.lastActivityAtMs]).toEqual([undefined, undefined]);
    expect(await harness.accounts.getAccount({ id: account.id }, { caller })).toEqual(account);
  });

  test("assigns a number of the institution with a good key, and no number twice", async () => {
    const accounts = await Promise.all(Array.from({ length: 12 }, () => open()));
    const numbers = accounts.map(({ accountNumber: number }) => number);
    expect(new Set(numbers).size).toBe(12);
    for (const number of numbers) {
      const parts = { bankCode: "007", branchCode: "99999" };
      expect(number).toBe(accountNumber(parts, BigInt(number.slice(8, 18))));
    }
  });

  test.each(["DZD", "EUR", "USD"])("may be in %s", async (currency) => {
    expect(await open({ currency })).toMatchObject({ currency });
  });

  test.each(["GBP", "dzd", "XXX", ""])("in %j is refused", async (currency) => {
    const before = await count();
    expect(await refusal(open({ currency }))).toMatchObject({
      kind: "invalid",
      code: "currency_not_supported",
      pointer: "/currency",
      message: "Accounts are held in DZD, EUR, USD. Send one of these.",
    });
    expect(await count()).toBe(before);
  });

  test.each([
    [{ dailyLimit: "10.01", monthlyLimit: "10" }, "/daily_limit"],
    [{ monthlyLimit: "10.01", yearlyLimit: "10" }, "/monthly_limit"],
    [{ dailyLimit: "10.01", yearlyLimit: "10" }, "/daily_limit"],
  ])("with limits that fall is refused: %o", async (limits, pointer) => {
    expect(await refusal(open(limits))).toMatchObject({ kind: "invalid", code: "account_limits_out_of_order", pointer });
  });

  test.each([{ dailyLimit: "0" }, { dailyLimit: "0.00" }, { dailyLimit: "-1" }, { dailyLimit: "ten" }])(
    "with a limit that is not above zero is refused: %o",
    async (limits) => {
      const refused = { kind: "invalid", code: "account_limit_invalid", pointer: "/daily_limit" };
      expect(await refusal(open(limits))).toMatchObject(refused);
    },
  );

  test("with equal limits is fine", async () => {
    expect((await open({ dailyLimit: "10", monthlyLimit: "10.00", yearlyLimit: "10.0" })).yearlyLimitMinor).toBe(1_000n);
  });

  test("for an unknown, foreign or malformed client is refused alike", async () => {
    const foreign = await harness.createPerson();
    for (const other of [uuidv7(), foreign.id, "no id", ""]) {
      expect(await refusal(open({ clientId: other }))).toMatchObject({ kind: "not_found", code: "client_not_found" });
    }
  });

  test("for a blocked client is refused, for an unverified or blacklisted one not", async () => {
    const blocked = await harness.createPerson(caller, { blocked: true });
    expect(await refusal(open({ clientId: blocked.id }))).toMatchObject({
      kind: "conflict",
      code: "client_blocked",
      pointer: "/client_id",
    });
    const blacklisted = await harness.createPerson(caller, { isBlacklisted: true });
    expect((await open({ clientId: blacklisted.id })).status).toBe(AccountStatus.PENDING);
  });

  test("with an external_account_id that is taken is refused, also when two come at the same time", async () => {
    const results = await Promise.allSettled([1, 2, 3].map(() => open({ externalAccountId: "same" })));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused).toHaveLength(2);
    for (const reason of refused) {
      expect(reason).toMatchObject({ kind: "conflict", code: "external_account_id_taken", pointer: "/external_account_id" });
    }
    // It is unique in a business, as it is written; and nobody else's business.
    expect((await open({ externalAccountId: "SAME" })).externalAccountId).toBe("SAME");
    expect((await harness.openAccount(aBusinessCaller(), { externalAccountId: "same" })).externalAccountId).toBe("same");
  });

  test("with one Idempotency-Key happens once", async () => {
    const before = await count();
    const [first, second] = [withIdempotencyKey(caller, "k-1"), withIdempotencyKey(caller, "k-1")];
    const opened = await open({}, first);
    expect(await open({}, second)).toEqual(opened);
    expect([first.replayed, second.replayed]).toEqual([false, true]);
    expect(await count()).toBe(before + 1);
  });

  test("that was refused leaves its Idempotency-Key free", async () => {
    expect(await refusal(open({ externalAccountId: "house-1" }, withIdempotencyKey(caller, "k-2")))).toMatchObject({
      kind: "conflict",
    });
    expect((await open({}, withIdempotencyKey(caller, "k-2"))).id).toBeTruthy();
  });

  test("is for businesses", async () => {
    const byAdmin = harness.accounts.openAccount({ ...anAccountRequest, clientId }, { caller: adminCaller });
    expect(await refusal(byAdmin)).toMatchObject({ code: "business_key_required" });
  });
});

describe("a client who is blocked while an account is opened", () => {
  test("gets none when the block was first: the opening waits for it", async () => {
    const { id } = await harness.createPerson(caller);
    let opening: Promise<unknown> | undefined;
    await harness.transaction(async (em) => {
      (await lockRow(em, Client, allBusinesses, id, clientNotFound)).change({ blocked: true }, new Date());
      await em.flush();
      opening = refusal(open({ clientId: id }));
      await harness.untilSomeoneWaits();
    });
    expect(await opening).toMatchObject({ code: "client_blocked" });
    expect(await harness.sql("select id from account where client_id = ?", [id])).toEqual([]);
  });

  test("is blocked before those get one who came after the block, however many are being opened", async () => {
    const { id } = await harness.createPerson(caller);
    const { id: taken } = await open({ externalAccountId: "freed-late" });
    let all: Promise<unknown[]> | undefined;
    await harness.transaction(async (em) => {
      // The first opening stops at the external id and holds the client; the block waits for it.
      await em.execute("update account set external_account_id = null where id = ?", [taken]);
      const first = open({ clientId: id, externalAccountId: "freed-late" });
      await harness.untilSomeoneWaits(1);
      const block = harness.clients.updatePerson({ id, blocked: true }, { caller });
      await harness.untilSomeoneWaits(2);
      const late = Promise.all([1, 2, 3].map(() => refusal(open({ clientId: id }))));
      await harness.untilSomeoneWaits(5);
      all = Promise.all([first, block, late]);
    });
    const [first, block, late] = (await all) ?? [];
    expect(first).toMatchObject({ clientId: id });
    expect(block).toMatchObject({ blocked: true });
    expect(late).toEqual(Array(3).fill(expect.objectContaining({ code: "client_blocked" })));
  });

  test("keeps the one whose opening was first: the block waits for it", async () => {
    const { id } = await harness.createPerson(caller);
    const { id: taken } = await open({ externalAccountId: "freed-soon" });
    const order: string[] = [];
    let both: Promise<unknown> | undefined;
    await harness.transaction(async (em) => {
      // The opening holds the client and stops at the external id: it may yet become free.
      await em.execute("update account set external_account_id = null where id = ?", [taken]);
      const opening = open({ clientId: id, externalAccountId: "freed-soon" }).then((account) => {
        order.push("opened");
        return account;
      });
      await harness.untilSomeoneWaits(1);
      const block = harness.clients.updatePerson({ id, blocked: true }, { caller }).then(() => order.push("blocked"));
      await harness.untilSomeoneWaits(2);
      both = Promise.all([opening, block]);
    });
    await both;
    expect(order.sort()).toEqual(["blocked", "opened"]);
    expect(await harness.sql("select status from account where client_id = ?", [id])).toEqual([{ status: "PENDING" }]);
    expect(await harness.clients.getClient({ id }, { caller })).toMatchObject({ blocked: true });
  });
});
