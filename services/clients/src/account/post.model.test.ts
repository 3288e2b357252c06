import { DomainError } from "@amana/rpc";
import { aBusinessCaller } from "@amana/testing";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import { type PostingOrder, post } from "./post.ts";

const startTime = new Date("2026-11-29T20:00:00.000Z");

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  harness.clock.nowMs = startTime.getTime();
});
afterAll(() => harness[Symbol.asyncDispose]());

/**
 * A step of the test. `of` selects an earlier posting or order: the candidate at the index `of`
 * modulo the number of candidates.
 */
type Step =
  | { readonly kind: "CREDIT" | "DEBIT" | "HOLD"; readonly amount: bigint }
  /**
   * Captures `hundredths` percent of the hold, or the whole hold if `hundredths` is undefined. A
   * value above 100 exceeds the hold.
   */
  | { readonly kind: "CAPTURE"; readonly of: number; readonly hundredths: bigint | undefined }
  | { readonly kind: "RELEASE" | "REVERSAL"; readonly of: number }
  /** Repeats an earlier order with the same reference. */
  | { readonly kind: "repeat"; readonly of: number }
  | { readonly kind: "wait"; readonly hours: number };

const anIndex = fc.nat(30);
const kindOf = <K extends Step["kind"]>(name: K) => fc.constant(name);
const someHundredths = fc.option(fc.bigInt({ min: 1n, max: 110n }), { nil: undefined });
const anAmount = (max: bigint) => fc.bigInt({ min: 1n, max });
const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: kindOf("CREDIT"), amount: anAmount(400n) }) },
  { weight: 4, arbitrary: fc.record({ kind: kindOf("DEBIT"), amount: anAmount(200n) }) },
  { weight: 5, arbitrary: fc.record({ kind: kindOf("HOLD"), amount: anAmount(200n) }) },
  { weight: 4, arbitrary: fc.record({ kind: kindOf("CAPTURE"), of: anIndex, hundredths: someHundredths }) },
  { weight: 2, arbitrary: fc.record({ kind: kindOf("RELEASE"), of: anIndex }) },
  { weight: 3, arbitrary: fc.record({ kind: kindOf("REVERSAL"), of: anIndex }) },
  { weight: 1, arbitrary: fc.record({ kind: kindOf("repeat"), of: anIndex }) },
  { weight: 1, arbitrary: fc.record({ kind: kindOf("wait"), hours: fc.constantFrom(1, 7, 24, 24 * 20, 24 * 200) }) },
);
const aLimit = (min: bigint, max: bigint) => fc.option(fc.bigInt({ min, max }), { nil: null, freq: 3 });
const someLimits = fc.tuple(aLimit(100n, 400n), aLimit(400n, 800n), aLimit(800n, 1_200n));

/**
 * A posting in the model. The model stores no balances or sums, but computes them from all
 * postings.
 */
interface ModelPosting {
  readonly id: string;
  readonly kind: string;
  readonly amount: bigint;
  readonly day: string;
  readonly of: ModelPosting | undefined;
}

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
const findEnd = (ledger: readonly ModelPosting[], posting: ModelPosting) => ledger.find(({ of }) => of === posting);
const amountsOf = (ledger: readonly ModelPosting[], pick: (posting: ModelPosting) => boolean) =>
  sumOf(ledger.filter(pick).map((posting) => posting.amount));

/** Returns the balances that result from all postings. */
function balancesOf(ledger: readonly ModelPosting[]): { current: bigint; reserved: bigint } {
  const isReversed = (posting: ModelPosting) => findEnd(ledger, posting) !== undefined;
  const creditSum = amountsOf(ledger, (posting) => posting.kind === "CREDIT" && !isReversed(posting));
  const outgoingSum = amountsOf(ledger, (posting) => ["DEBIT", "CAPTURE"].includes(posting.kind) && !isReversed(posting));
  const reserved = amountsOf(ledger, (posting) => posting.kind === "HOLD" && findEnd(ledger, posting) === undefined);
  return { current: creditSum - outgoingSum, reserved };
}

/**
 * Returns the sum of the counted amounts in a period, for example "2026-03-31", "2026-03" or
 * "2026".
 */
function usedIn(ledger: readonly ModelPosting[], period: string): bigint {
  const countedPostings = ledger.filter(({ kind, day }) => (kind === "DEBIT" || kind === "HOLD") && day.startsWith(period));
  return sumOf(
    countedPostings.map((posting) => {
      const endPosting = findEnd(ledger, posting);
      if (!endPosting) return posting.amount;
      if (endPosting.kind !== "CAPTURE") return 0n;
      return findEnd(ledger, endPosting) ? 0n : endPosting.amount;
    }),
  );
}

/**
 * Returns whether `post` must accept the attempted posting. Evaluates all postings of the ledger
 * together with the attempted posting.
 */
function isAllowed(ledger: readonly ModelPosting[], attempt: ModelPosting, limits: readonly (bigint | null)[]): boolean {
  const { kind, amount, of, day } = attempt;
  if (of && findEnd(ledger, of)) return false;
  if ((kind === "CAPTURE" || kind === "RELEASE") && of?.kind !== "HOLD") return false;
  if (kind === "CAPTURE" && amount > (of?.amount ?? 0n)) return false;
  if (kind === "REVERSAL" && !["CREDIT", "DEBIT", "CAPTURE"].includes(of?.kind ?? "")) return false;
  const ledgerAfter = [...ledger, attempt];
  const { current, reserved } = balancesOf(ledgerAfter);
  if (current - reserved < 0n) return false;
  if (kind !== "DEBIT" && kind !== "HOLD") return true;
  return [day, day.slice(0, 7), day.slice(0, 4)].every(
    (period, index) => usedIn(ledgerAfter, period) <= (limits[index] ?? 10n ** 18n),
  );
}

/**
 * Returns the amount of an order, or undefined if the order has none. A capture has at least one
 * minor unit.
 */
function amountOf(step: Step, hold: ModelPosting | undefined): bigint | undefined {
  if ("amount" in step) return step.amount;
  if (step.kind !== "CAPTURE" || step.hundredths === undefined) return undefined;
  return ((hold?.amount ?? 0n) * step.hundredths) / 100n || 1n;
}

interface Row {
  readonly current_balance_minor: string;
  readonly available_balance_minor: string;
  readonly reserved_balance_minor: string;
}

test("`post` returns the same results and stores the same balances as a model for random sequences of orders", async () => {
  const caller = aBusinessCaller();
  const { businessId } = caller;
  const counts = { posted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 10, maxLength: 40 }), someLimits, async (steps, limits) => {
      const { id } = await harness.anActiveAccount(caller);
      await harness.sql(
        "update account set daily_limit_minor = ?, monthly_limit_minor = ?, yearly_limit_minor = ? where id = ?",
        [...limits, id],
      );
      const ledger: ModelPosting[] = [];
      const orders: { order: PostingOrder; postingId: string | undefined }[] = [];
      let now = startTime;
      const placeOrder = async (order: PostingOrder) => {
        try {
          return (await harness.transaction((em) => post(em, businessId, id, order, now))).id;
        } catch (error) {
          if (error instanceof DomainError) return undefined;
          throw error;
        }
      };
      const readStored = async () => ({
        account: await harness.sql<Row>("select * from account where id = ?", [id]),
        postings: await harness.sql("select * from account_posting where account_id = ? order by id", [id]),
      });

      for (const [index, step] of steps.entries()) {
        if (step.kind === "wait") {
          now = new Date(now.getTime() + step.hours * 3_600_000);
          continue;
        }
        const storedBefore = await readStored();
        if (step.kind === "repeat") {
          const earlierOrder = orders[step.of % orders.length];
          if (earlierOrder?.postingId === undefined) continue;
          expect(await placeOrder(earlierOrder.order)).toBe(earlierOrder.postingId);
          expect(await readStored()).toEqual(storedBefore);
          continue;
        }

        // Usually selects a hold for a capture or release. Every fifth step may select a posting of
        // another kind, which `post` must then refuse.
        const candidates =
          step.kind === "REVERSAL" || index % 5 === 0 ? ledger : ledger.filter((posting) => posting.kind === "HOLD");
        const target = "of" in step ? candidates[step.of % candidates.length] : undefined;
        if ("of" in step && !target) continue;
        const amountMinor = amountOf(step, target);
        const reference = `step-${index}`;
        const order = {
          kind: step.kind,
          reference,
          ...(amountMinor !== undefined && { amountMinor }),
          ...(target && { [step.kind === "REVERSAL" ? "postingId" : "holdId"]: target.id }),
        } as PostingOrder;
        const attempt = {
          id: "",
          kind: step.kind,
          amount: amountMinor ?? target?.amount ?? 0n,
          day: now.toISOString().slice(0, 10),
          of: target,
        };
        const isExpected = isAllowed(ledger, attempt, limits);
        const postingId = await placeOrder(order);
        orders.push({ order, postingId });
        expect([index, step, postingId !== undefined]).toEqual([index, step, isExpected]);
        if (postingId === undefined) {
          counts.refused++;
          expect(await readStored()).toEqual(storedBefore);
          continue;
        }
        counts.posted++;
        ledger.push({ ...attempt, id: postingId });

        const [row] = (await readStored()).account;
        const { current, reserved } = balancesOf(ledger);
        expect(row).toMatchObject({
          current_balance_minor: String(current),
          available_balance_minor: String(current - reserved),
          reserved_balance_minor: String(reserved),
        });
        for (const { day } of ledger) {
          for (const [limitIndex, period] of [day, day.slice(0, 7), day.slice(0, 4)].entries()) {
            expect(usedIn(ledger, period) <= (limits[limitIndex] ?? 10n ** 18n)).toBe(true);
          }
        }
      }
    }),
    { numRuns: 40 },
  );
  // Verifies that the random sequences contained both accepted and refused orders.
  expect(counts.posted).toBeGreaterThan(100);
  expect(counts.refused).toBeGreaterThan(100);
}, 120_000);
