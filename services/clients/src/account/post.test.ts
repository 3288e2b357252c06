import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import { type PostingOrder, post } from "./post.ts";

const now = new Date("2026-03-31T12:00:00.000Z");

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  harness.clock.nowMs = now.getTime();
});
afterAll(() => harness[Symbol.asyncDispose]());

/** Creates an ACTIVE account with the available balance `balanceMinor`. */
async function anActiveAccount(balanceMinor = 1_000n) {
  const caller = aBusinessCaller();
  const { id } = await harness.anActiveAccount(caller);
  const placeOrder = (posting: PostingOrder, at = now) =>
    harness.transaction((em) => post(em, caller.businessId, id, posting, at));
  if (balanceMinor > 0n) await placeOrder({ kind: "CREDIT", amountMinor: balanceMinor, reference: "opening" });
  const readBalances = async () => {
    const { currentBalanceMinor, availableBalanceMinor, reservedBalanceMinor } = await harness.accounts.getAccount(
      { id },
      { caller },
    );
    return [currentBalanceMinor, availableBalanceMinor, reservedBalanceMinor];
  };
  const readPostings = () => harness.sql("select * from account_posting where account_id = ? order by kind, reference", [id]);
  return { id, caller, placeOrder, readBalances, readPostings };
}

describe("post", () => {
  test("`post` stores the posting, the account's new balances and the time of the account's last activity", async () => {
    const { id, caller, placeOrder, readBalances, readPostings } = await anActiveAccount();
    const debit = await placeOrder({ kind: "DEBIT", amountMinor: 300n, reference: "d" });
    expect(await readBalances()).toEqual([700n, 700n, 0n]);
    expect(await readPostings()).toMatchObject([
      {
        kind: "CREDIT",
        amount_minor: "1000",
        reference: "opening",
        of_id: null,
        counts_on: null,
        business_id: caller.businessId,
      },
      { id: debit.id, kind: "DEBIT", amount_minor: "300", reference: "d", of_id: null, counts_on: "2026-03-31" },
    ]);
    expect(await harness.accounts.getAccount({ id }, { caller })).toMatchObject({
      lastActivityAtMs: BigInt(now.getTime()),
      updatedAtMs: BigInt(now.getTime()),
    });
  });

  test("`post` sets the reserved balance to zero for a full capture, a partial capture or a release of the hold", async () => {
    const { placeOrder, readBalances } = await anActiveAccount();
    const hold = async (reference: string) => (await placeOrder({ kind: "HOLD", amountMinor: 400n, reference })).id;
    await placeOrder({ kind: "CAPTURE", holdId: await hold("h1"), reference: "c1" });
    expect(await readBalances()).toEqual([600n, 600n, 0n]);
    const capturePosting = await placeOrder({ kind: "CAPTURE", holdId: await hold("h2"), amountMinor: 100n, reference: "c2" });
    expect(capturePosting.amountMinor).toBe(100n);
    expect(await readBalances()).toEqual([500n, 500n, 0n]);
    const thirdHoldId = await hold("h3");
    expect(await readBalances()).toEqual([500n, 100n, 400n]);
    await placeOrder({ kind: "RELEASE", holdId: thirdHoldId, reference: "r3" });
    expect(await readBalances()).toEqual([500n, 500n, 0n]);
  });

  test("`post` accepts only one of three concurrent orders that capture or release the same hold", async () => {
    const { placeOrder, readPostings } = await anActiveAccount();
    const { id: holdId } = await placeOrder({ kind: "HOLD", amountMinor: 400n, reference: "h" });
    const outcomes = await Promise.allSettled([
      placeOrder({ kind: "CAPTURE", holdId, reference: "c1" }),
      placeOrder({ kind: "RELEASE", holdId, reference: "r" }),
      placeOrder({ kind: "CAPTURE", holdId, amountMinor: 1n, reference: "c2" }),
    ]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "hold_not_open" });
    expect(await readPostings()).toHaveLength(3);
  });

  test("`post` accepts only one of five concurrent reversals of a posting", async () => {
    const { placeOrder, readBalances } = await anActiveAccount();
    const { id: postingId } = await placeOrder({ kind: "DEBIT", amountMinor: 400n, reference: "d" });
    const reversals = await Promise.allSettled(
      Array.from({ length: 5 }, (_, n) => placeOrder({ kind: "REVERSAL", postingId, reference: `v${n}` })),
    );
    expect(reversals.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const reversal of reversals)
      if (reversal.status === "rejected") expect(reversal.reason).toMatchObject({ code: "posting_not_reversible" });
    expect(await readBalances()).toEqual([1_000n, 1_000n, 0n]);
  });

  test("`post` adds one posting and returns this posting to each of eight concurrent orders with the same reference", async () => {
    const { placeOrder, readBalances, readPostings } = await anActiveAccount();
    const debit: PostingOrder = { kind: "DEBIT", amountMinor: 300n, reference: "same" };
    const responses = await Promise.all(Array.from({ length: 8 }, () => placeOrder(debit)));
    expect(new Set(responses.map(({ id }) => id)).size).toBe(1);
    expect(await readBalances()).toEqual([700n, 700n, 0n]);
    expect(await readPostings()).toHaveLength(2);
  });

  test("`post` returns the existing posting for a repeated order, even if the account is SUSPENDED", async () => {
    const { id, caller, placeOrder } = await anActiveAccount();
    const debit: PostingOrder = { kind: "DEBIT", amountMinor: 300n, reference: "d" };
    const firstPosting = await placeOrder(debit);
    await harness.accounts.suspendAccount({ id }, { caller });
    expect((await placeOrder(debit)).id).toBe(firstPosting.id);
    expect(await refusal(placeOrder({ ...debit, reference: "e" }))).toMatchObject({ code: "account_not_active" });
  });

  test("`post` throws posting_reference_reused if a different order already has the reference", async () => {
    const { placeOrder, readBalances } = await anActiveAccount();
    const { id: holdId } = await placeOrder({ kind: "HOLD", amountMinor: 300n, reference: "h" });
    for (const conflictingOrder of [
      { kind: "HOLD", amountMinor: 301n, reference: "h" },
      { kind: "DEBIT", amountMinor: 300n, reference: "h" },
      { kind: "RELEASE", holdId, reference: "h" },
      { kind: "RELEASE", holdId, reference: "opening" },
    ] as PostingOrder[]) {
      expect(await refusal(placeOrder(conflictingOrder))).toMatchObject({ code: "posting_reference_reused" });
    }
    expect(await readBalances()).toEqual([1_000n, 700n, 300n]);
  });

  test("`post` returns the existing capture for a repeated order with the captured amount, and rejects a repeated order with another amount", async () => {
    const { placeOrder, readBalances } = await anActiveAccount();
    const capture = {
      kind: "CAPTURE",
      holdId: (await placeOrder({ kind: "HOLD", amountMinor: 400n, reference: "h" })).id,
    } as const;
    const fullCapture = await placeOrder({ ...capture, reference: "c" });
    expect((await placeOrder({ ...capture, amountMinor: 400n, reference: "c" })).id).toBe(fullCapture.id);
    expect((await placeOrder({ ...capture, reference: "c" })).id).toBe(fullCapture.id);

    const { id: holdId } = await placeOrder({ kind: "HOLD", amountMinor: 400n, reference: "h2" });
    await placeOrder({ ...capture, holdId, amountMinor: 100n, reference: "c2" });
    for (const changes of [{}, { amountMinor: 400n }]) {
      expect(await refusal(placeOrder({ ...capture, ...changes, holdId, reference: "c2" }))).toMatchObject({
        code: "posting_reference_reused",
      });
    }
    expect(await readBalances()).toEqual([500n, 500n, 0n]);
  });

  test("`post` accepts a reference that another account's posting already has", async () => {
    const [firstAccount, secondAccount] = [await anActiveAccount(), await anActiveAccount()];
    expect((await firstAccount.readPostings())[0]?.["reference"]).toBe((await secondAccount.readPostings())[0]?.["reference"]);
  });

  test.each([0n, -1n])("`post` throws a RangeError for the amount %i", async (amountMinor) => {
    const { placeOrder, readPostings } = await anActiveAccount();
    for (const kind of ["CREDIT", "DEBIT", "HOLD"] as const) {
      await expect(placeOrder({ kind, amountMinor, reference: "x" })).rejects.toThrow(RangeError);
    }
    expect(await readPostings()).toHaveLength(1);
  });

  test("`post` throws posting_not_found if an order names a hold or posting that the account does not have", async () => {
    const [owner, otherAccount] = [await anActiveAccount(), await anActiveAccount()];
    const { id: holdId } = await owner.placeOrder({ kind: "HOLD", amountMinor: 1n, reference: "h" });
    const { id: debitId } = await owner.placeOrder({ kind: "DEBIT", amountMinor: 1n, reference: "d" });
    for (const [account, order] of [
      [otherAccount, { kind: "CAPTURE", holdId, reference: "x" }],
      [otherAccount, { kind: "REVERSAL", postingId: debitId, reference: "x" }],
      [owner, { kind: "CAPTURE", holdId: debitId, reference: "x" }],
      [owner, { kind: "RELEASE", holdId: uuidv7(), reference: "x" }],
      [owner, { kind: "RELEASE", holdId: "no id", reference: "x" }],
    ] as [typeof owner, PostingOrder][]) {
      expect(await refusal(account.placeOrder(order))).toMatchObject({ kind: "not_found", code: "posting_not_found" });
    }
  });

  test("`post` throws the same error not_found for another business's account as for an unknown account id", async () => {
    const { id } = await anActiveAccount();
    const credit: PostingOrder = { kind: "CREDIT", amountMinor: 1n, reference: "x" };
    for (const [businessId, accountId] of [
      [uuidv7(), id],
      [uuidv7(), uuidv7()],
      [uuidv7(), "no id"],
    ] as const) {
      const posting = harness.transaction((em) => post(em, businessId, accountId, credit, now));
      expect(await refusal(posting)).toMatchObject({ kind: "not_found", code: "not_found" });
    }
  });

  test("`post` throws and changes nothing if the balance would exceed 64 bits", async () => {
    const { placeOrder, readBalances, readPostings } = await anActiveAccount(2n ** 63n - 1n);
    const balancesBefore = await readBalances();
    expect(await refusal(placeOrder({ kind: "CREDIT", amountMinor: 1n, reference: "one too many" }))).toMatchObject({
      code: "22003",
    });
    expect(await readBalances()).toEqual(balancesBefore);
    expect(await readPostings()).toHaveLength(1);
  });

  test("`post` stores no posting and no balance change if the caller rolls back the transaction", async () => {
    const { id, caller, readBalances, readPostings } = await anActiveAccount();
    const failingTransaction = harness.transaction(async (em) => {
      await post(em, caller.businessId, id, { kind: "DEBIT", amountMinor: 1n, reference: "x" }, now);
      throw new Error("simulated failure");
    });
    await expect(failingTransaction).rejects.toThrow("simulated failure");
    expect(await readBalances()).toEqual([1_000n, 1_000n, 0n]);
    expect(await readPostings()).toHaveLength(1);
  });
});

describe("`post` with concurrent orders", () => {
  test("`post` accepts exactly 10 of 20 concurrent debits if the balance covers 10 of them", async () => {
    const { placeOrder, readBalances, readPostings } = await anActiveAccount(1_000n);
    const debits = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => placeOrder({ kind: "DEBIT", amountMinor: 100n, reference: `d${n}` })),
    );
    const errors = debits.flatMap((debit) => (debit.status === "rejected" ? [debit.reason] : []));
    expect(errors).toHaveLength(10);
    for (const reason of errors) expect(reason).toMatchObject({ kind: "conflict", code: "insufficient_funds" });
    expect(await readBalances()).toEqual([0n, 0n, 0n]);
    expect(await readPostings()).toHaveLength(11);
  });

  test("`post` accepts exactly 10 of 20 concurrent debits and holds if the daily limit covers 10 of them", async () => {
    const { id, caller, placeOrder, readBalances } = await anActiveAccount(100_000n);
    await harness.accounts.updateAccount({ id, dailyLimit: "10.00" }, { caller });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        placeOrder({ kind: n % 2 === 0 ? "DEBIT" : "HOLD", amountMinor: 100n, reference: `d${n}` }),
      ),
    );
    const errors = outcomes.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(errors).toHaveLength(10);
    for (const reason of errors)
      expect(reason).toMatchObject({ code: "account_limit_exceeded", members: { limit: "daily_limit" } });
    expect((await readBalances())[1]).toBe(99_000n);
  });
});

describe("constraints of the table account", () => {
  test.each([
    "current_balance_minor = current_balance_minor + 1",
    "available_balance_minor = -1, current_balance_minor = -1",
    "reserved_balance_minor = -1, current_balance_minor = available_balance_minor - 1",
    "used_day_minor = -1",
    "daily_limit_minor = 0",
    "daily_limit_minor = 2, yearly_limit_minor = 1",
    "status = 'CLOSED'",
    "closed_at = now()",
  ])("a constraint of the table `account` rejects the update `%s`", async (change) => {
    const { id } = await anActiveAccount();
    expect(await refusal(harness.sql(`update account set ${change} where id = ?`, [id]))).toMatchObject({ code: "23514" });
  });
});
