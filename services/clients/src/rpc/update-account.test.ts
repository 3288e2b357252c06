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
const update = (id: string, changes: object, updateCaller: object = caller) =>
  harness.accounts.updateAccount({ id, ...changes }, { caller: updateCaller as typeof caller });
/** Starts all changes while the row is locked, and releases the lock when all of them wait. */
async function updateConcurrently(id: string, changes: readonly object[]) {
  let updates: Promise<PromiseSettledResult<unknown>[]> | undefined;
  await harness.transaction(async (em) => {
    await em.execute("select from account where id = ? for update", [id]);
    updates = Promise.allSettled(changes.map((change) => update(id, change)));
    await harness.untilSessionsWait(changes.length);
  });
  return (await updates) ?? [];
}

const read = (id: string) => harness.accounts.getAccount({ id }, { caller });

describe("updateAccount", () => {
  test.each([
    [{ accountName: "Savings" }, { accountName: "Savings" }],
    [{ description: "new" }, { description: "new" }],
    [{ externalAccountId: "mine-1" }, { externalAccountId: "mine-1" }],
    [{ dailyLimit: "0.01" }, { dailyLimitMinor: 1n }],
    [{ monthlyLimit: "300" }, { monthlyLimitMinor: 30_000n }],
    [{ yearlyLimit: "999999999999999.99" }, { yearlyLimitMinor: 99_999_999_999_999_999n }],
  ])("changes only %o", async (changes, expected) => {
    const before = await anAccount();
    harness.clock.nowMs = Number(before.createdAtMs) + 60_000;
    const changed = await update(before.id, changes);
    expect(changed).toEqual({ ...before, ...expected, updatedAtMs: before.updatedAtMs + 60_000n });
    expect(await read(before.id)).toEqual(changed);
  });

  test.each([
    ["description", "description"],
    ["external_account_id", "externalAccountId"],
    ["daily_limit", "dailyLimitMinor"],
    ["monthly_limit", "monthlyLimitMinor"],
    ["yearly_limit", "yearlyLimitMinor"],
  ] as const)("clears %s", async (name, column) => {
    const before = await anAccount();
    const changed = await update(before.id, { cleared: [name] });
    expect({ ...changed, updatedAtMs: 0n }).toEqual({ ...before, [column]: undefined, updatedAtMs: 0n });
    expect((await read(before.id))[column]).toBeUndefined();
  });

  test("keeps updated_at for no change and for equal values", async () => {
    const before = await anAccount();
    harness.clock.nowMs = Number(before.createdAtMs) + 60_000;
    for (const changes of [{}, { accountName: before.accountName }, { ...limits }]) {
      expect(await update(before.id, changes)).toEqual(before);
    }
  });

  test.each([
    [{ dailyLimit: "200.01" }, "/daily_limit"],
    [{ monthlyLimit: "99.99" }, "/monthly_limit"],
    [{ monthlyLimit: "300.01" }, "/monthly_limit"],
    [{ yearlyLimit: "199.99" }, "/yearly_limit"],
    [{ cleared: ["monthly_limit"], dailyLimit: "300.01" }, "/daily_limit"],
  ])("rejects a shorter period with a greater limit and changes nothing: %o", async (changes, pointer) => {
    const before = await anAccount();
    expect(await refusal(update(before.id, { accountName: "Another", ...changes }))).toMatchObject({
      kind: "invalid",
      code: "account_limits_out_of_order",
      pointer,
    });
    expect(await read(before.id)).toEqual(before);
  });

  test("accepts a change of all limits that would be rejected for one limit alone", async () => {
    const { id } = await anAccount();
    expect(await update(id, { dailyLimit: "1000", monthlyLimit: "2000", yearlyLimit: "3000" })).toMatchObject({
      dailyLimitMinor: 100_000n,
      yearlyLimitMinor: 300_000n,
    });
  });

  test("keeps the limits in order for concurrent changes", async () => {
    const { id } = await anAccount();
    const results = await updateConcurrently(id, [{ dailyLimit: "150" }, { monthlyLimit: "120" }]);
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused).toMatchObject([{ code: "account_limits_out_of_order" }]);
  });

  test("rejects an external_account_id of another account, and accepts the account's own id", async () => {
    const [one, two] = [await anAccount(), await anAccount()];
    expect(await refusal(update(one.id, { externalAccountId: two.externalAccountId }))).toMatchObject({
      kind: "conflict",
      code: "external_account_id_taken",
      pointer: "/external_account_id",
    });
    expect(await read(one.id)).toEqual(one);
    expect(await update(two.id, { externalAccountId: two.externalAccountId })).toEqual(two);
    await update(two.id, { cleared: ["external_account_id"] });
    expect(await update(one.id, { externalAccountId: two.externalAccountId })).toMatchObject({
      externalAccountId: two.externalAccountId,
    });
  });

  test("applies concurrent changes of different fields", async () => {
    const { id } = await anAccount();
    const results = await updateConcurrently(id, [
      { accountName: "Another" },
      { description: "new" },
      { cleared: ["daily_limit"] },
    ]);
    expect(results.map(({ status }) => status)).toEqual(Array(3).fill("fulfilled"));
    expect(await read(id)).toMatchObject({ accountName: "Another", description: "new" });
    expect((await read(id)).dailyLimitMinor).toBeUndefined();
  });

  test("changes description and external_account_id of a closed account, so that the id can be used again", async () => {
    const { id, externalAccountId } = await anAccount();
    await harness.accounts.closeAccount({ id }, { caller });
    const changed = await update(id, { description: "closed in March", cleared: ["external_account_id"] });
    expect(changed).toMatchObject({ description: "closed in March" });
    expect(changed.externalAccountId).toBeUndefined();
    expect(await update((await anAccount()).id, { externalAccountId })).toMatchObject({ externalAccountId });
  });

  test.each([{ accountName: "Another" }, { dailyLimit: "1.00" }, { monthlyLimit: "150" }, { cleared: ["yearly_limit"] }])(
    "rejects a change of name or limits of a closed account: %o",
    async (changes) => {
      const { id } = await anAccount();
      const closed = await harness.accounts.closeAccount({ id }, { caller });
      expect(await refusal(update(id, { description: "new", ...changes }))).toMatchObject({
        kind: "conflict",
        code: "account_closed",
        members: { account_status: "CLOSED" },
      });
      expect(await read(id)).toEqual(closed);
    },
  );

  test("accepts equal values for a closed account and changes nothing", async () => {
    const { id, accountName } = await anAccount();
    const closed = await harness.accounts.closeAccount({ id }, { caller });
    for (const changes of [{}, { accountName, ...limits }]) expect(await update(id, changes)).toEqual(closed);
  });
});

test("updateAccount returns the same error for another business's account as for an unknown id", async () => {
  const before = await anAccount();
  for (const id of [before.id, uuidv7(), "no id", ""]) {
    const foreign = aBusinessCaller();
    const refused = { kind: "not_found", code: "not_found", message: "There is no account with this id. Check the id." };
    expect(await refusal(update(id, { accountName: "Mine" }, foreign))).toMatchObject(refused);
    expect(await refusal(harness.accounts.getAccount({ id }, { caller: foreign }))).toMatchObject(refused);
  }
  expect(await read(before.id)).toEqual(before);
});

test("updateAccount rejects an operator's key", async () => {
  const { id } = await anAccount();
  expect(await refusal(update(id, {}, adminCaller))).toMatchObject({ code: "business_key_required" });
  expect(await refusal(harness.accounts.getAccount({ id }, { caller: adminCaller }))).toMatchObject({
    code: "business_key_required",
  });
});
