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

/** Creates an ACTIVE account with a balance. */
async function anActiveAccount(balanceMinor = 1_000n) {
  const caller = aBusinessCaller();
  const { id } = await harness.anActiveAccount(caller);
  const order = (posting: PostingOrder, at = now) => harness.transaction((em) => post(em, caller.businessId, id, posting, at));
  if (balanceMinor > 0n) await order({ kind: "CREDIT", amountMinor: balanceMinor, reference: "opening" });
  const account = async () => {
    const { currentBalanceMinor, availableBalanceMinor, reservedBalanceMinor } = await harness.accounts.getAccount(
      { id },
      { caller },
    );
    return [currentBalanceMinor, availableBalanceMinor, reservedBalanceMinor];
  };
  const postings = () => harness.sql("select * from account_posting where account_id = ? order by kind, reference", [id]);
  return { id, caller, order, account, postings };
}

describe("post", () => {
  test("stores the posting, the new balances and last_activity_at", async () => {
    const { id, caller, order, account, postings } = await anActiveAccount();
    const debit = await order({ kind: "DEBIT", amountMinor: 300n, reference: "d" });
    expect(await account()).toEqual([700n, 700n, 0n]);
    expect(await postings()).toMatchObject([
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

  test("ends a hold by a full capture, a partial capture or a release", async () => {
    const { order, account } = await anActiveAccount();
    const hold = async (reference: string) => (await order({ kind: "HOLD", amountMinor: 400n, reference })).id;
    await order({ kind: "CAPTURE", holdId: await hold("h1"), reference: "c1" });
    expect(await account()).toEqual([600n, 600n, 0n]);
    const captured = await order({ kind: "CAPTURE", holdId: await hold("h2"), amountMinor: 100n, reference: "c2" });
    expect(captured.amountMinor).toBe(100n);
    expect(await account()).toEqual([500n, 500n, 0n]);
    const third = await hold("h3");
    expect(await account()).toEqual([500n, 100n, 400n]);
    await order({ kind: "RELEASE", holdId: third, reference: "r3" });
    expect(await account()).toEqual([500n, 500n, 0n]);
  });

  test("ends a hold once when captures and releases are concurrent", async () => {
    const { order, postings } = await anActiveAccount();
    const { id: holdId } = await order({ kind: "HOLD", amountMinor: 400n, reference: "h" });
    const ends = await Promise.allSettled([
      order({ kind: "CAPTURE", holdId, reference: "c1" }),
      order({ kind: "RELEASE", holdId, reference: "r" }),
      order({ kind: "CAPTURE", holdId, amountMinor: 1n, reference: "c2" }),
    ]);
    expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const end of ends) if (end.status === "rejected") expect(end.reason).toMatchObject({ code: "hold_not_open" });
    expect(await postings()).toHaveLength(3);
  });

  test("reverses a posting once when reversals are concurrent", async () => {
    const { order, account } = await anActiveAccount();
    const { id: postingId } = await order({ kind: "DEBIT", amountMinor: 400n, reference: "d" });
    const reversals = await Promise.allSettled(
      Array.from({ length: 5 }, (_, n) => order({ kind: "REVERSAL", postingId, reference: `v${n}` })),
    );
    expect(reversals.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const end of reversals)
      if (end.status === "rejected") expect(end.reason).toMatchObject({ code: "posting_not_reversible" });
    expect(await account()).toEqual([1_000n, 1_000n, 0n]);
  });

  test("returns the existing posting for a known reference, also when orders are concurrent", async () => {
    const { order, account, postings } = await anActiveAccount();
    const debit: PostingOrder = { kind: "DEBIT", amountMinor: 300n, reference: "same" };
    const responses = await Promise.all(Array.from({ length: 8 }, () => order(debit)));
    expect(new Set(responses.map(({ id }) => id)).size).toBe(1);
    expect(await account()).toEqual([700n, 700n, 0n]);
    expect(await postings()).toHaveLength(2);
  });

  test("returns the existing posting for a known reference also after the account was suspended", async () => {
    const { id, caller, order } = await anActiveAccount();
    const debit: PostingOrder = { kind: "DEBIT", amountMinor: 300n, reference: "d" };
    const first = await order(debit);
    await harness.accounts.suspendAccount({ id }, { caller });
    expect((await order(debit)).id).toBe(first.id);
    expect(await refusal(order({ ...debit, reference: "e" }))).toMatchObject({ code: "account_not_active" });
  });

  test("throws for the reference of a different posting", async () => {
    const { order, account } = await anActiveAccount();
    const { id: holdId } = await order({ kind: "HOLD", amountMinor: 300n, reference: "h" });
    for (const other of [
      { kind: "HOLD", amountMinor: 301n, reference: "h" },
      { kind: "DEBIT", amountMinor: 300n, reference: "h" },
      { kind: "RELEASE", holdId, reference: "h" },
      { kind: "RELEASE", holdId, reference: "opening" },
    ] as PostingOrder[]) {
      expect(await refusal(order(other))).toMatchObject({ code: "posting_reference_reused" });
    }
    expect(await account()).toEqual([1_000n, 700n, 300n]);
  });

  test("returns the existing capture for its reference only with the same amount, explicit or implied", async () => {
    const { order, account } = await anActiveAccount();
    const capture = { kind: "CAPTURE", holdId: (await order({ kind: "HOLD", amountMinor: 400n, reference: "h" })).id } as const;
    const fullCapture = await order({ ...capture, reference: "c" });
    expect((await order({ ...capture, amountMinor: 400n, reference: "c" })).id).toBe(fullCapture.id);
    expect((await order({ ...capture, reference: "c" })).id).toBe(fullCapture.id);

    const { id: holdId } = await order({ kind: "HOLD", amountMinor: 400n, reference: "h2" });
    await order({ ...capture, holdId, amountMinor: 100n, reference: "c2" });
    for (const other of [{}, { amountMinor: 400n }]) {
      expect(await refusal(order({ ...capture, ...other, holdId, reference: "c2" }))).toMatchObject({
        code: "posting_reference_reused",
      });
    }
    expect(await account()).toEqual([500n, 500n, 0n]);
  });

  test("accepts the reference of a posting of another account", async () => {
    const [first, second] = [await anActiveAccount(), await anActiveAccount()];
    expect((await first.postings())[0]?.["reference"]).toBe((await second.postings())[0]?.["reference"]);
  });

  test.each([0n, -1n])("throws a RangeError for the amount %i", async (amountMinor) => {
    const { order, postings } = await anActiveAccount();
    for (const kind of ["CREDIT", "DEBIT", "HOLD"] as const) {
      await expect(order({ kind, amountMinor, reference: "x" })).rejects.toThrow(RangeError);
    }
    expect(await postings()).toHaveLength(1);
  });

  test("throws for a target of another account, and for a missing target", async () => {
    const [owner, other] = [await anActiveAccount(), await anActiveAccount()];
    const { id: holdId } = await owner.order({ kind: "HOLD", amountMinor: 1n, reference: "h" });
    const { id: debitId } = await owner.order({ kind: "DEBIT", amountMinor: 1n, reference: "d" });
    for (const [account, order] of [
      [other, { kind: "CAPTURE", holdId, reference: "x" }],
      [other, { kind: "REVERSAL", postingId: debitId, reference: "x" }],
      [owner, { kind: "CAPTURE", holdId: debitId, reference: "x" }],
      [owner, { kind: "RELEASE", holdId: uuidv7(), reference: "x" }],
      [owner, { kind: "RELEASE", holdId: "no id", reference: "x" }],
    ] as [typeof owner, PostingOrder][]) {
      expect(await refusal(account.order(order))).toMatchObject({ kind: "not_found", code: "posting_not_found" });
    }
  });

  test("throws the same error for another business's account as for an unknown account", async () => {
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

  test("fails without a change if the balance would overflow", async () => {
    const { order, account, postings } = await anActiveAccount(2n ** 63n - 1n);
    const before = await account();
    expect(await refusal(order({ kind: "CREDIT", amountMinor: 1n, reference: "one too many" }))).toMatchObject({ code: "22003" });
    expect(await account()).toEqual(before);
    expect(await postings()).toHaveLength(1);
  });

  test("is rolled back with the caller's transaction", async () => {
    const { id, caller, account, postings } = await anActiveAccount();
    const failing = harness.transaction(async (em) => {
      await post(em, caller.businessId, id, { kind: "DEBIT", amountMinor: 1n, reference: "x" }, now);
      throw new Error("transaction fails");
    });
    await expect(failing).rejects.toThrow("transaction fails");
    expect(await account()).toEqual([1_000n, 1_000n, 0n]);
    expect(await postings()).toHaveLength(1);
  });
});

describe("post, concurrent orders", () => {
  test("accepts 10 of 20 debits if the balance covers 10", async () => {
    const { order, account, postings } = await anActiveAccount(1_000n);
    const debits = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => order({ kind: "DEBIT", amountMinor: 100n, reference: `d${n}` })),
    );
    const refused = debits.flatMap((debit) => (debit.status === "rejected" ? [debit.reason] : []));
    expect(refused).toHaveLength(10);
    for (const reason of refused) expect(reason).toMatchObject({ kind: "conflict", code: "insufficient_funds" });
    expect(await account()).toEqual([0n, 0n, 0n]);
    expect(await postings()).toHaveLength(11);
  });

  test("accepts 10 of 20 debits and holds if the daily limit covers 10", async () => {
    const { id, caller, order, account } = await anActiveAccount(100_000n);
    await harness.accounts.updateAccount({ id, dailyLimit: "10.00" }, { caller });
    const outgoing = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        order({ kind: n % 2 === 0 ? "DEBIT" : "HOLD", amountMinor: 100n, reference: `d${n}` }),
      ),
    );
    const refused = outgoing.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused).toHaveLength(10);
    for (const reason of refused)
      expect(reason).toMatchObject({ code: "account_limit_exceeded", members: { limit: "daily_limit" } });
    expect((await account())[1]).toBe(99_000n);
  });
});

describe("the constraints of the table account reject", () => {
  test.each([
    "current_balance_minor = current_balance_minor + 1",
    "available_balance_minor = -1, current_balance_minor = -1",
    "reserved_balance_minor = -1, current_balance_minor = available_balance_minor - 1",
    "used_day_minor = -1",
    "daily_limit_minor = 0",
    "daily_limit_minor = 2, yearly_limit_minor = 1",
    "status = 'CLOSED'",
    "closed_at = now()",
  ])("%s", async (change) => {
    const { id } = await anActiveAccount();
    expect(await refusal(harness.sql(`update account set ${change} where id = ?`, [id]))).toMatchObject({ code: "23514" });
  });
});
