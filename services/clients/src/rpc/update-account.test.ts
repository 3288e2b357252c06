import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
const caller = aBusinessCaller();
beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => {
  harness.clock.nowMs = undefined;
});
afterAll(() => harness[Symbol.asyncDispose]());

const limits = { dailyLimit: "100.00", monthlyLimit: "200.00", yearlyLimit: "300.00" };
const anAccount = () => harness.openAccount(caller, { ...limits, description: "old", externalAccountId: uuidv7() });
const updateAccount = (id: string, changes: object, updateCaller: object = caller) =>
  harness.accounts.updateAccount({ id, ...changes }, { caller: updateCaller as typeof caller });
/**
 * Starts all changes while a transaction locks the account's row, and releases the lock when all
 * changes wait for it.
 */
async function updateConcurrently(id: string, changes: readonly object[]) {
  let updates: Promise<PromiseSettledResult<unknown>[]> | undefined;
  await harness.transaction(async (em) => {
    await em.execute("select from account where id = ? for update", [id]);
    updates = Promise.allSettled(changes.map((change) => updateAccount(id, change)));
    await harness.waitForLockedSessions(changes.length);
  });
  return (await updates) ?? [];
}

const readAccount = (id: string) => harness.accounts.getAccount({ id }, { caller });

describe("updateAccount", () => {
  test.each([
    [{ accountName: "Savings" }, { accountName: "Savings" }],
    [{ description: "new" }, { description: "new" }],
    [{ externalAccountId: "mine-1" }, { externalAccountId: "mine-1" }],
    [{ dailyLimit: "0.01" }, { dailyLimitMinor: 1n }],
    [{ monthlyLimit: "300" }, { monthlyLimitMinor: 30_000n }],
    [{ yearlyLimit: "999999999999999.99" }, { yearlyLimitMinor: 99_999_999_999_999_999n }],
  ])("updateAccount changes only %j", async (changes, expected) => {
    const accountBefore = await anAccount();
    harness.clock.nowMs = Number(accountBefore.createdAtMs) + 60_000;
    const changedAccount = await updateAccount(accountBefore.id, changes);
    expect(changedAccount).toEqual({ ...accountBefore, ...expected, updatedAtMs: accountBefore.updatedAtMs + 60_000n });
    expect(await readAccount(accountBefore.id)).toEqual(changedAccount);
  });

  test.each([
    ["description", "description"],
    ["external_account_id", "externalAccountId"],
    ["daily_limit", "dailyLimitMinor"],
    ["monthly_limit", "monthlyLimitMinor"],
    ["yearly_limit", "yearlyLimitMinor"],
  ] as const)("updateAccount clears the field %s", async (name, column) => {
    const accountBefore = await anAccount();
    const changedAccount = await updateAccount(accountBefore.id, { cleared: [name] });
    expect({ ...changedAccount, updatedAtMs: 0n }).toEqual({ ...accountBefore, [column]: undefined, updatedAtMs: 0n });
    expect((await readAccount(accountBefore.id))[column]).toBeUndefined();
  });

  test("updateAccount keeps updated_at if the request is empty or all values are equal to the stored values", async () => {
    const accountBefore = await anAccount();
    harness.clock.nowMs = Number(accountBefore.createdAtMs) + 60_000;
    for (const changes of [{}, { accountName: accountBefore.accountName }, { ...limits }]) {
      expect(await updateAccount(accountBefore.id, changes)).toEqual(accountBefore);
    }
  });

  test.each([
    [{ dailyLimit: "200.01" }, "/daily_limit"],
    [{ monthlyLimit: "99.99" }, "/monthly_limit"],
    [{ monthlyLimit: "300.01" }, "/monthly_limit"],
    [{ yearlyLimit: "199.99" }, "/yearly_limit"],
    [{ cleared: ["monthly_limit"], dailyLimit: "300.01" }, "/daily_limit"],
  ])("updateAccount rejects a limit that exceeds the limit of a longer period: %j", async (changes, pointer) => {
    const accountBefore = await anAccount();
    expect(await refusal(updateAccount(accountBefore.id, { accountName: "Another", ...changes }))).toMatchObject({
      kind: "invalid",
      code: "account_limits_out_of_order",
      pointer,
    });
    expect(await readAccount(accountBefore.id)).toEqual(accountBefore);
  });

  test("updateAccount accepts a request that changes all limits, even if one of these changes alone would be invalid", async () => {
    const { id } = await anAccount();
    expect(await updateAccount(id, { dailyLimit: "1000", monthlyLimit: "2000", yearlyLimit: "3000" })).toMatchObject({
      dailyLimitMinor: 100_000n,
      yearlyLimitMinor: 300_000n,
    });
  });

  test("updateAccount rejects one of two concurrent changes that together would set the daily limit above the monthly limit", async () => {
    const { id } = await anAccount();
    const results = await updateConcurrently(id, [{ dailyLimit: "150" }, { monthlyLimit: "120" }]);
    const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(errors).toMatchObject([{ code: "account_limits_out_of_order" }]);
  });

  test("updateAccount rejects an external_account_id of another account until that account's external_account_id is cleared", async () => {
    const [firstAccount, secondAccount] = [await anAccount(), await anAccount()];
    expect(await refusal(updateAccount(firstAccount.id, { externalAccountId: secondAccount.externalAccountId }))).toMatchObject({
      kind: "conflict",
      code: "external_account_id_taken",
      pointer: "/external_account_id",
    });
    expect(await readAccount(firstAccount.id)).toEqual(firstAccount);
    expect(await updateAccount(secondAccount.id, { externalAccountId: secondAccount.externalAccountId })).toEqual(secondAccount);
    await updateAccount(secondAccount.id, { cleared: ["external_account_id"] });
    expect(await updateAccount(firstAccount.id, { externalAccountId: secondAccount.externalAccountId })).toMatchObject({
      externalAccountId: secondAccount.externalAccountId,
    });
  });

  test("updateAccount applies three concurrent changes if they concern different fields", async () => {
    const { id } = await anAccount();
    const results = await updateConcurrently(id, [
      { accountName: "Another" },
      { description: "new" },
      { cleared: ["daily_limit"] },
    ]);
    expect(results.map(({ status }) => status)).toEqual(Array(3).fill("fulfilled"));
    expect(await readAccount(id)).toMatchObject({ accountName: "Another", description: "new" });
    expect((await readAccount(id)).dailyLimitMinor).toBeUndefined();
  });

  test("updateAccount accepts changes of a closed account's description and external_account_id", async () => {
    const { id, externalAccountId } = await anAccount();
    await harness.accounts.closeAccount({ id }, { caller });
    const changedAccount = await updateAccount(id, { description: "closed in March", cleared: ["external_account_id"] });
    expect(changedAccount).toMatchObject({ description: "closed in March" });
    expect(changedAccount.externalAccountId).toBeUndefined();
    expect(await updateAccount((await anAccount()).id, { externalAccountId })).toMatchObject({ externalAccountId });
  });

  test.each([{ accountName: "Another" }, { dailyLimit: "1.00" }, { monthlyLimit: "150" }, { cleared: ["yearly_limit"] }])(
    "updateAccount rejects a change of a closed account's name or limits: %j",
    async (changes) => {
      const { id } = await anAccount();
      const closedAccount = await harness.accounts.closeAccount({ id }, { caller });
      expect(await refusal(updateAccount(id, { description: "new", ...changes }))).toMatchObject({
        kind: "conflict",
        code: "account_closed",
        members: { account_status: "CLOSED" },
      });
      expect(await readAccount(id)).toEqual(closedAccount);
    },
  );

  test("updateAccount accepts a request for a closed account if all values are equal to the stored values", async () => {
    const { id, accountName } = await anAccount();
    const closedAccount = await harness.accounts.closeAccount({ id }, { caller });
    for (const changes of [{}, { accountName, ...limits }]) expect(await updateAccount(id, changes)).toEqual(closedAccount);
  });
});

test("updateAccount and getAccount throw the same error not_found for another business's account, an unknown id and a malformed id", async () => {
  const accountBefore = await anAccount();
  for (const id of [accountBefore.id, uuidv7(), "no id", ""]) {
    const foreignCaller = aBusinessCaller();
    const expectedError = { kind: "not_found", code: "not_found", message: "There is no account with this id. Check the id." };
    expect(await refusal(updateAccount(id, { accountName: "Mine" }, foreignCaller))).toMatchObject(expectedError);
    expect(await refusal(harness.accounts.getAccount({ id }, { caller: foreignCaller }))).toMatchObject(expectedError);
  }
  expect(await readAccount(accountBefore.id)).toEqual(accountBefore);
});

test("updateAccount and getAccount reject an operator's key", async () => {
  const { id } = await anAccount();
  expect(await refusal(updateAccount(id, {}, adminCaller))).toMatchObject({ code: "business_key_required" });
  expect(await refusal(harness.accounts.getAccount({ id }, { caller: adminCaller }))).toMatchObject({
    code: "business_key_required",
  });
});
