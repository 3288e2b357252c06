import { lockRow } from "@amana/database";
import { isUuid, uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { accountNotFound, holdNotOpen, postingNotFound, postingNotReversible, postingReferenceReused } from "./account.errors.ts";
import { Account } from "./account.ts";
import { AccountPosting, type PostingKind } from "./account-posting.ts";

/** What is to happen to an account. One that comes again under its `reference` happens once. */
export type PostingOrder = { readonly reference: string } & (
  | { readonly kind: "CREDIT" | "DEBIT" | "HOLD"; readonly amountMinor: bigint }
  /** All of the hold without an amount. What is not captured is released. */
  | { readonly kind: "CAPTURE"; readonly holdId: string; readonly amountMinor?: bigint }
  | { readonly kind: "RELEASE"; readonly holdId: string }
  | { readonly kind: "REVERSAL"; readonly postingId: string }
);

/**
 * The only way money moves on an account: one posting, in the caller's transaction, with the row
 * locked until it ends. When a rule refuses, the caller lets the transaction fail. Limits apply to
 * what goes out, by UTC day, month and year: a debit when it is posted, a hold when it is placed,
 * so that no capture fails because of a limit. What is released or reversed no longer counts.
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
  const of = isUuid(ofId) ? await em.findOne(AccountPosting, { id: ofId, businessId, accountId }) : null;
  const amountMinor = ("amountMinor" in order ? order.amountMinor : undefined) ?? of?.amountMinor;
  if (amountMinor !== undefined && amountMinor <= 0n) throw new RangeError(`a posting is above zero, not ${amountMinor}`);

  const known = await em.findOne(AccountPosting, { businessId, accountId, reference: order.reference });
  if (known) {
    if (known.isSame(order.kind, amountMinor, ofId)) return known;
    throw postingReferenceReused();
  }

  if (ofId !== undefined) await refuseEnded(em, of, order.kind);
  const posting = em.create(AccountPosting, {
    id: uuidv7(now.getTime()),
    businessId,
    accountId,
    kind: order.kind,
    reference: order.reference,
    ofId: ofId ?? null,
    createdAt: now,
    ...apply(account, order, of, now),
  });
  em.persist(posting);
  await em.flush();
  return posting;
}

/** An order ends or undoes a posting that is there, unless another one has done so. */
async function refuseEnded(em: SqlEntityManager, of: AccountPosting | null, kind: PostingKind): Promise<void> {
  const isReversal = kind === "REVERSAL";
  if (!of || (of.kind !== "HOLD" && !isReversal)) throw postingNotFound();
  const ended = await em.count(AccountPosting, { businessId: of.businessId, ofId: of.id });
  if (ended > 0) throw isReversal ? postingNotReversible() : holdNotOpen();
}

/** Moves the balances; says how much moved, and on which day it counts against the limits. */
function apply(
  account: Account,
  order: PostingOrder,
  of: AccountPosting | null,
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
  if (!of) throw postingNotFound();
  switch (order.kind) {
    case "CAPTURE": {
      const amountMinor = order.amountMinor ?? of.amountMinor;
      account.capture(of, amountMinor, now);
      return { amountMinor, countsOn: of.countsOn ?? null };
    }
    case "RELEASE":
      account.release(of, now);
      return { amountMinor: of.amountMinor, countsOn: null };
    case "REVERSAL":
      account.reverse(of, now);
      return { amountMinor: of.amountMinor, countsOn: null };
  }
}
