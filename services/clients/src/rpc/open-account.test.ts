import { AccountStatus, AccountType } from "@amana/contracts/clients/v1/account_pb";
import { allBusinesses, lockRow } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { anAccountRequest, type Harness, startHarness } from "../../test/harness.ts";
import { buildAccountNumber } from "../account/account-number.ts";
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

const openAccount = (changes: object = {}, options: object = {}) =>
  harness.accounts.openAccount({ ...anAccountRequest, clientId, ...changes }, { caller, ...options });
const countAccounts = async () => (await harness.sql<{ n: number }>("select count(*)::int as n from account"))[0]?.n ?? 0;

describe("openAccount", () => {
  test("openAccount stores and returns all fields of the request, with status PENDING and zero balances", async () => {
    const nowMs = Date.UTC(2026, 2, 1, 10);
    harness.clock.nowMs = nowMs;
    const account = await openAccount({
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

  test("openAccount assigns a unique account number with the configured bank code and branch code and a valid check key", async () => {
    const accounts = await Promise.all(Array.from({ length: 12 }, () => openAccount()));
    const numbers = accounts.map(({ accountNumber: number }) => number);
    expect(new Set(numbers).size).toBe(12);
    for (const number of numbers) {
      const codes = { bankCode: "007", branchCode: "99999" };
      expect(number).toBe(buildAccountNumber(codes, BigInt(number.slice(8, 18))));
    }
  });

  test.each(["DZD", "EUR", "USD"])("openAccount accepts the currency %s", async (currency) => {
    expect(await openAccount({ currency })).toMatchObject({ currency });
  });

  test.each(["GBP", "dzd", "XXX", ""])("openAccount rejects the currency %j", async (currency) => {
    const countBefore = await countAccounts();
    expect(await refusal(openAccount({ currency }))).toMatchObject({
      kind: "invalid",
      code: "currency_not_supported",
      pointer: "/currency",
      message: "The currency is not supported. Send one of DZD, EUR, USD.",
    });
    expect(await countAccounts()).toBe(countBefore);
  });

  test.each([
    [{ dailyLimit: "10.01", monthlyLimit: "10" }, "/daily_limit"],
    [{ monthlyLimit: "10.01", yearlyLimit: "10" }, "/monthly_limit"],
    [{ dailyLimit: "10.01", yearlyLimit: "10" }, "/daily_limit"],
  ])("openAccount rejects a limit that exceeds the limit of a longer period: %j", async (limits, pointer) => {
    expect(await refusal(openAccount(limits))).toMatchObject({ kind: "invalid", code: "account_limits_out_of_order", pointer });
  });

  test.each([{ dailyLimit: "0" }, { dailyLimit: "0.00" }, { dailyLimit: "-1" }, { dailyLimit: "ten" }])(
    "openAccount rejects a limit that is not greater than zero: %j",
    async (limits) => {
      const expectedError = { kind: "invalid", code: "account_limit_invalid", pointer: "/daily_limit" };
      expect(await refusal(openAccount(limits))).toMatchObject(expectedError);
    },
  );

  test("openAccount accepts equal daily, monthly and yearly limits", async () => {
    expect((await openAccount({ dailyLimit: "10", monthlyLimit: "10.00", yearlyLimit: "10.0" })).yearlyLimitMinor).toBe(1_000n);
  });

  test("openAccount throws the same error client_not_found for another business's client, an unknown id and a malformed id", async () => {
    const foreignClient = await harness.createPerson();
    for (const otherId of [uuidv7(), foreignClient.id, "no id", ""]) {
      expect(await refusal(openAccount({ clientId: otherId }))).toMatchObject({ kind: "not_found", code: "client_not_found" });
    }
  });

  test("openAccount rejects a blocked client, and accepts an unverified, blacklisted client", async () => {
    const blockedClient = await harness.createPerson(caller, { blocked: true });
    expect(await refusal(openAccount({ clientId: blockedClient.id }))).toMatchObject({
      kind: "conflict",
      code: "client_blocked",
      pointer: "/client_id",
    });
    const blacklistedClient = await harness.createPerson(caller, { isBlacklisted: true });
    expect((await openAccount({ clientId: blacklistedClient.id })).status).toBe(AccountStatus.PENDING);
  });

  test("openAccount accepts only one of three concurrent requests of a business with the same external_account_id", async () => {
    const results = await Promise.allSettled([1, 2, 3].map(() => openAccount({ externalAccountId: "same" })));
    const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(errors).toHaveLength(2);
    for (const reason of errors) {
      expect(reason).toMatchObject({ kind: "conflict", code: "external_account_id_taken", pointer: "/external_account_id" });
    }
    // The external account id is unique per business and case-sensitive.
    expect((await openAccount({ externalAccountId: "SAME" })).externalAccountId).toBe("SAME");
    expect((await harness.openAccount(aBusinessCaller(), { externalAccountId: "same" })).externalAccountId).toBe("same");
  });

  test("openAccount returns the existing account for a repeated Idempotency-Key", async () => {
    const countBefore = await countAccounts();
    const [firstOptions, secondOptions] = [withIdempotencyKey(caller, "k-1"), withIdempotencyKey(caller, "k-1")];
    const openedAccount = await openAccount({}, firstOptions);
    expect(await openAccount({}, secondOptions)).toEqual(openedAccount);
    expect([firstOptions.replayed, secondOptions.replayed]).toEqual([false, true]);
    expect(await countAccounts()).toBe(countBefore + 1);
  });

  test("openAccount accepts an Idempotency-Key again if the first request with this key was refused", async () => {
    expect(await refusal(openAccount({ externalAccountId: "house-1" }, withIdempotencyKey(caller, "k-2")))).toMatchObject({
      kind: "conflict",
    });
    expect((await openAccount({}, withIdempotencyKey(caller, "k-2"))).id).toBeTruthy();
  });

  test("openAccount rejects an operator's key", async () => {
    const adminRequest = harness.accounts.openAccount({ ...anAccountRequest, clientId }, { caller: adminCaller });
    expect(await refusal(adminRequest)).toMatchObject({ code: "business_key_required" });
  });
});

describe("openAccount for a client who is blocked concurrently", () => {
  test("openAccount waits for a concurrent transaction that blocks the client, and then throws client_blocked", async () => {
    const { id } = await harness.createPerson(caller);
    let opening: Promise<unknown> | undefined;
    await harness.transaction(async (em) => {
      (await lockRow(em, Client, allBusinesses, id, clientNotFound)).change({ blocked: true }, new Date());
      await em.flush();
      opening = refusal(openAccount({ clientId: id }));
      await harness.waitForLockedSessions();
    });
    expect(await opening).toMatchObject({ code: "client_blocked" });
    expect(await harness.sql("select id from account where client_id = ?", [id])).toEqual([]);
  });

  test("openAccount accepts the one request that locks the client before the client is blocked, and rejects three later requests", async () => {
    const { id } = await harness.createPerson(caller);
    const { id: occupiedId } = await openAccount({ externalAccountId: "freed-late" });
    let responses: Promise<unknown[]> | undefined;
    await harness.transaction(async (em) => {
      // The first request locks the client and waits until the external id is free. The request
      // that blocks the client waits for the first request's lock.
      await em.execute("update account set external_account_id = null where id = ?", [occupiedId]);
      const earlierRequest = openAccount({ clientId: id, externalAccountId: "freed-late" });
      await harness.waitForLockedSessions(1);
      const blockRequest = harness.clients.updatePerson({ id, blocked: true }, { caller });
      await harness.waitForLockedSessions(2);
      const lateRequests = Promise.all([1, 2, 3].map(() => refusal(openAccount({ clientId: id }))));
      await harness.waitForLockedSessions(5);
      responses = Promise.all([earlierRequest, blockRequest, lateRequests]);
    });
    const [openedAccount, blockedClient, lateErrors] = (await responses) ?? [];
    expect(openedAccount).toMatchObject({ clientId: id });
    expect(blockedClient).toMatchObject({ blocked: true });
    expect(lateErrors).toEqual(Array(3).fill(expect.objectContaining({ code: "client_blocked" })));
  });

  test("openAccount opens the account if a concurrent request blocks the client after openAccount has locked the client", async () => {
    const { id } = await harness.createPerson(caller);
    const { id: occupiedId } = await openAccount({ externalAccountId: "freed-soon" });
    let responses: Promise<unknown[]> | undefined;
    await harness.transaction(async (em) => {
      // The request locks the client and waits until the external id is free.
      await em.execute("update account set external_account_id = null where id = ?", [occupiedId]);
      const openRequest = openAccount({ clientId: id, externalAccountId: "freed-soon" });
      await harness.waitForLockedSessions(1);
      const blockRequest = harness.clients.updatePerson({ id, blocked: true }, { caller });
      await harness.waitForLockedSessions(2);
      responses = Promise.all([openRequest, blockRequest]);
    });
    expect(await responses).toMatchObject([{ clientId: id, status: AccountStatus.PENDING }, { blocked: true }]);
    expect(await harness.sql("select status from account where client_id = ?", [id])).toEqual([{ status: "PENDING" }]);
    expect(await harness.clients.getClient({ id }, { caller })).toMatchObject({ blocked: true });
  });
});
