import { lockRow } from "@amana/database";
import { isUuid, uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { accountNotFound, holdNotOpen, postingNotFound, postingNotReversible, postingReferenceReused } from "./account.errors.ts";
import { Account } from "./account.ts";
import { AccountPosting, type PostingKind } from "./account-posting.ts";

/**
 * An order to add a posting to an account. If an order is repeated with the same `reference`, it
 * has no further effect.
 */
export type PostingOrder = { readonly reference: string } & (
  | { readonly kind: "CREDIT" | "DEBIT" | "HOLD"; readonly amountMinor: bigint }
  /** Captures the amount (default: the whole hold), and releases the remaining part of the hold. */
  | { readonly kind: "CAPTURE"; readonly holdId: string; readonly amountMinor?: bigint }
  | { readonly kind: "RELEASE"; readonly holdId: string }
  | { readonly kind: "REVERSAL"; readonly postingId: string }
);

/**
 * Adds a posting to an account in the caller's transaction, and locks the account's row. All code
 * that changes a balance must use this function. If the function throws, the caller must let the
 * transaction fail. Limits apply to outgoing amounts per UTC day, month and year. A debit counts
 * when it is posted. A hold counts when it is placed, so that no capture fails because of a limit.
 * Released and reversed amounts do not count.
 */
export async function post(
  em: SqlEntityManager,
  businessId: string,
  accountId: string,
  order: PostingOrder,
  now: Date,
): Promise<AccountPosting> {
  const account = await lockRow(em, Account, businessId, accountId, accountNotFound);
  const ofId = "holdId" in order ? order.holdId : "postingId" in order ? order.postingId : undefined;
  const target = isUuid(ofId) ? await em.findOne(AccountPosting, { id: ofId, businessId, accountId }) : null;
  const amountMinor = ("amountMinor" in order ? order.amountMinor : undefined) ?? target?.amountMinor;
  if (amountMinor !== undefined && amountMinor <= 0n)
    throw new RangeError(`amountMinor must be greater than zero, not ${amountMinor}`);

  const existingPosting = await em.findOne(AccountPosting, { businessId, accountId, reference: order.reference });
  if (existingPosting) {
    if (existingPosting.matchesOrder(order.kind, amountMinor, ofId)) return existingPosting;
    throw postingReferenceReused();
  }

  if (ofId !== undefined) await requireOpenTarget(em, target, order.kind);
  const posting = em.create(AccountPosting, {
    id: uuidv7(now.getTime()),
    businessId,
    accountId,
    kind: order.kind,
    reference: order.reference,
    ofId: ofId ?? null,
    createdAt: now,
    ...applyOrder(account, order, target, now),
  });
  em.persist(posting);
  await em.flush();
  return posting;
}

/**
 * Throws if the posting to capture, release or reverse is missing, or if another posting has
 * already captured, released or reversed it.
 */
async function requireOpenTarget(em: SqlEntityManager, target: AccountPosting | null, kind: PostingKind): Promise<void> {
  const isReversal = kind === "REVERSAL";
  if (!target || (target.kind !== "HOLD" && !isReversal)) throw postingNotFound();
  const followUpCount = await em.count(AccountPosting, { businessId: target.businessId, ofId: target.id });
  if (followUpCount > 0) throw isReversal ? postingNotReversible() : holdNotOpen();
}

/**
 * Changes the account's balances. Returns the posting's amount, and the day on which the amount
 * counts against the limits.
 */
function applyOrder(
  account: Account,
  order: PostingOrder,
  target: AccountPosting | null,
  now: Date,
): Pick<AccountPosting, "amountMinor" | "countsOn"> {
  switch (order.kind) {
    case "CREDIT":
      account.credit(order.amountMinor, now);
      return { amountMinor: order.amountMinor, countsOn: null };
    case "DEBIT":
      return { amountMinor: order.amountMinor, countsOn: account.debit(order.amountMinor, now) };
    case "HOLD":
      return { amountMinor: order.amountMinor, countsOn: account.hold(order.amountMinor, now) };
  }
  if (!target) throw postingNotFound();
  switch (order.kind) {
    case "CAPTURE": {
      const amountMinor = order.amountMinor ?? target.amountMinor;
      account.capture(target, amountMinor, now);
      return { amountMinor, countsOn: target.countsOn ?? null };
    }
    case "RELEASE":
      account.release(target, now);
      return { amountMinor: target.amountMinor, countsOn: null };
    case "REVERSAL":
      account.reverse(target, now);
      return { amountMinor: target.amountMinor, countsOn: null };
  }
}
