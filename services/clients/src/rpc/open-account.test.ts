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

describe("openAccount", () => {
  test("stores and returns all fields of the request, with status PENDING and zero balances", async () => {
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

  test("assigns a unique account number of the institution with a valid key", async () => {
    const accounts = await Promise.all(Array.from({ length: 12 }, () => open()));
    const numbers = accounts.map(({ accountNumber: number }) => number);
    expect(new Set(numbers).size).toBe(12);
    for (const number of numbers) {
      const parts = { bankCode: "007", branchCode: "99999" };
      expect(number).toBe(accountNumber(parts, BigInt(number.slice(8, 18))));
    }
  });

  test.each(["DZD", "EUR", "USD"])("accepts the currency %s", async (currency) => {
    expect(await open({ currency })).toMatchObject({ currency });
  });

  test.each(["GBP", "dzd", "XXX", ""])("rejects the currency %j", async (currency) => {
    const before = await count();
    expect(await refusal(open({ currency }))).toMatchObject({
      kind: "invalid",
      code: "currency_not_supported",
      pointer: "/currency",
      message: "The currency is not supported. Send one of DZD, EUR, USD.",
    });
    expect(await count()).toBe(before);
  });

  test.each([
    [{ dailyLimit: "10.01", monthlyLimit: "10" }, "/daily_limit"],
    [{ monthlyLimit: "10.01", yearlyLimit: "10" }, "/monthly_limit"],
    [{ dailyLimit: "10.01", yearlyLimit: "10" }, "/daily_limit"],
  ])("rejects a shorter period with a greater limit: %o", async (limits, pointer) => {
    expect(await refusal(open(limits))).toMatchObject({ kind: "invalid", code: "account_limits_out_of_order", pointer });
  });

  test.each([{ dailyLimit: "0" }, { dailyLimit: "0.00" }, { dailyLimit: "-1" }, { dailyLimit: "ten" }])(
    "rejects a limit that is not greater than zero: %o",
    async (limits) => {
      const refused = { kind: "invalid", code: "account_limit_invalid", pointer: "/daily_limit" };
      expect(await refusal(open(limits))).toMatchObject(refused);
    },
  );

  test("accepts equal limits", async () => {
    expect((await open({ dailyLimit: "10", monthlyLimit: "10.00", yearlyLimit: "10.0" })).yearlyLimitMinor).toBe(1_000n);
  });

  test("returns the same error for another business's client, an unknown id and a malformed id", async () => {
    const foreign = await harness.createPerson();
    for (const other of [uuidv7(), foreign.id, "no id", ""]) {
      expect(await refusal(open({ clientId: other }))).toMatchObject({ kind: "not_found", code: "client_not_found" });
    }
  });

  test("rejects a blocked client, and accepts an unverified or blacklisted client", async () => {
    const blocked = await harness.createPerson(caller, { blocked: true });
    expect(await refusal(open({ clientId: blocked.id }))).toMatchObject({
      kind: "conflict",
      code: "client_blocked",
      pointer: "/client_id",
    });
    const blacklisted = await harness.createPerson(caller, { isBlacklisted: true });
    expect((await open({ clientId: blacklisted.id })).status).toBe(AccountStatus.PENDING);
  });

  test("rejects an external_account_id of another account of the business, also in concurrent requests", async () => {
    const results = await Promise.allSettled([1, 2, 3].map(() => open({ externalAccountId: "same" })));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused).toHaveLength(2);
    for (const reason of refused) {
      expect(reason).toMatchObject({ kind: "conflict", code: "external_account_id_taken", pointer: "/external_account_id" });
    }
    // The id is unique per business, and case-sensitive.
    expect((await open({ externalAccountId: "SAME" })).externalAccountId).toBe("SAME");
    expect((await harness.openAccount(aBusinessCaller(), { externalAccountId: "same" })).externalAccountId).toBe("same");
  });

  test("opens once per Idempotency-Key", async () => {
    const before = await count();
    const [first, second] = [withIdempotencyKey(caller, "k-1"), withIdempotencyKey(caller, "k-1")];
    const opened = await open({}, first);
    expect(await open({}, second)).toEqual(opened);
    expect([first.replayed, second.replayed]).toEqual([false, true]);
    expect(await count()).toBe(before + 1);
  });

  test("does not use the Idempotency-Key of a refused request", async () => {
    expect(await refusal(open({ externalAccountId: "house-1" }, withIdempotencyKey(caller, "k-2")))).toMatchObject({
      kind: "conflict",
    });
    expect((await open({}, withIdempotencyKey(caller, "k-2"))).id).toBeTruthy();
  });

  test("rejects an operator's key", async () => {
    const byAdmin = harness.accounts.openAccount({ ...anAccountRequest, clientId }, { caller: adminCaller });
    expect(await refusal(byAdmin)).toMatchObject({ code: "business_key_required" });
  });
});

describe("openAccount for a client who is blocked concurrently", () => {
  test("waits for an earlier block and is then refused", async () => {
    const { id } = await harness.createPerson(caller);
    let opening: Promise<unknown> | undefined;
    await harness.transaction(async (em) => {
      (await lockRow(em, Client, allBusinesses, id, clientNotFound)).change({ blocked: true }, new Date());
      await em.flush();
      opening = refusal(open({ clientId: id }));
      await harness.untilSessionsWait();
    });
    expect(await opening).toMatchObject({ code: "client_blocked" });
    expect(await harness.sql("select id from account where client_id = ?", [id])).toEqual([]);
  });

  test("rejects all requests after the block, and accepts the request before it", async () => {
    const { id } = await harness.createPerson(caller);
    const { id: taken } = await open({ externalAccountId: "freed-late" });
    let all: Promise<unknown[]> | undefined;
    await harness.transaction(async (em) => {
      // The first request waits for the external id and locks the client, so the block waits for
      // it.
      await em.execute("update account set external_account_id = null where id = ?", [taken]);
      const first = open({ clientId: id, externalAccountId: "freed-late" });
      await harness.untilSessionsWait(1);
      const block = harness.clients.updatePerson({ id, blocked: true }, { caller });
      await harness.untilSessionsWait(2);
      const late = Promise.all([1, 2, 3].map(() => refusal(open({ clientId: id }))));
      await harness.untilSessionsWait(5);
      all = Promise.all([first, block, late]);
    });
    const [first, block, late] = (await all) ?? [];
    expect(first).toMatchObject({ clientId: id });
    expect(block).toMatchObject({ blocked: true });
    expect(late).toEqual(Array(3).fill(expect.objectContaining({ code: "client_blocked" })));
  });

  test("opens the account if the request was first, and the block waits for it", async () => {
    const { id } = await harness.createPerson(caller);
    const { id: taken } = await open({ externalAccountId: "freed-soon" });
    const order: string[] = [];
    let both: Promise<unknown> | undefined;
    await harness.transaction(async (em) => {
      // The request locks the client and waits for the external id, which may become available.
      await em.execute("update account set external_account_id = null where id = ?", [taken]);
      const opening = open({ clientId: id, externalAccountId: "freed-soon" }).then((account) => {
        order.push("opened");
        return account;
      });
      await harness.untilSessionsWait(1);
      const block = harness.clients.updatePerson({ id, blocked: true }, { caller }).then(() => order.push("blocked"));
      await harness.untilSessionsWait(2);
      both = Promise.all([opening, block]);
    });
    await both;
    expect(order.sort()).toEqual(["blocked", "opened"]);
    expect(await harness.sql("select status from account where client_id = ?", [id])).toEqual([{ status: "PENDING" }]);
    expect(await harness.clients.getClient({ id }, { caller })).toMatchObject({ blocked: true });
  });
});
