import { randomInt } from "node:crypto";
import type { Language } from "@amana/pages";
import { type OutcomeName, outcomeOf } from "./outcome.ts";
import { type TestCard, testPassword } from "./test-cards.ts";

/** Status codes of the processor: 0 registered, 2 deposited, 3 reversed, 4 refunded, 6 declined. */
export type OrderStatus = 0 | 2 | 3 | 4 | 6;

/** A payment at the processor, without the full card number, the CVV2 and the password. */
export interface Order {
  readonly orderId: string;
  readonly orderNumber: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly returnUrl: string;
  readonly failUrl: string;
  readonly description: string;
  readonly language: Language;
  /** force_terminal_id and udf1 to udf5, unchanged. */
  readonly merchantParams: Readonly<Record<string, string>>;
  readonly registeredAtMs: number;
  status: OrderStatus;
  card?: { maskedPan: string; expiration: string; outcome: OutcomeName };
  passwordAttemptsLeft: number;
  outcome?: OutcomeName;
  approvalCode?: string;
  depositedMinor: number;
  refundedMinor: number;
  finishedAtMs?: number;
  confirmedAtMs?: number;
  reversedAtMs?: number;
  /** Refunds that took effect, oldest first, each with its origin. */
  refunds?: { readonly amountMinor: number; readonly atMs: number; readonly by: "client" | "back_office" }[];
  refundedAtMs?: number;
}

export const sessionMs = 20 * 60_000;
const confirmWindowMs = 20 * 60_000;
export const passwordAttemptsMax = 3;

/** Applies the time limits of an order. Returns whether the order changed. */
export function applyTimeLimits(order: Order, nowMs: number): boolean {
  if (order.status === 0 && nowMs >= order.registeredAtMs + sessionMs) {
    finish(order, "session_expired", order.registeredAtMs + sessionMs);
    return true;
  }
  const confirmBeforeMs = (order.finishedAtMs ?? 0) + confirmWindowMs;
  if (order.status === 2 && order.confirmedAtMs === undefined && nowMs >= confirmBeforeMs) {
    reverseOrder(order, confirmBeforeMs);
    return true;
  }
  return false;
}

export function chooseCard(order: Order, card: TestCard): void {
  const [month, year] = card.expiry.split("/");
  order.card = {
    maskedPan: `${card.pan.slice(0, 6)}**${card.pan.slice(-4)}`,
    expiration: `${year}${month}`,
    outcome: card.outcome,
  };
}

/**
 * Applies the outcome of the card if the password is correct. The third wrong password ends the
 * payment.
 */
export function enterPassword(order: Order, password: string, nowMs: number): void {
  if (order.status !== 0 || !order.card) return;
  if (password === testPassword) {
    finish(order, order.card.outcome, nowMs);
    if (order.card.outcome === "accepted") {
      order.depositedMinor = order.amountMinor;
      // Approval codes of issuers have six digits, with leading zeros.
      order.approvalCode = String(randomInt(1_000_000)).padStart(6, "0");
    }
    return;
  }
  order.passwordAttemptsLeft -= 1;
  if (order.passwordAttemptsLeft === 0) finish(order, "password_blocked", nowMs);
}

export function cancelOrder(order: Order, nowMs: number): void {
  if (order.status === 0) finish(order, "cancelled", nowMs);
}

export function confirmOrder(order: Order, nowMs: number): void {
  if (order.status === 2) order.confirmedAtMs ??= nowMs;
}

export function refundableMinor(order: Order): number {
  return order.depositedMinor - order.refundedMinor;
}

/** Refunds an amount. The caller must have checked that it is at most `refundableMinor`. */
export function refundOrder(order: Order, amountMinor: number, by: "client" | "back_office", nowMs: number): void {
  order.status = 4;
  order.refundedMinor += amountMinor;
  order.refundedAtMs = nowMs;
  order.refunds = [...(order.refunds ?? []), { amountMinor, atMs: nowMs, by }];
}

/** Reverses an order. The order must be deposited and have no refunds. */
export function reverseOrder(order: Order, nowMs: number): void {
  order.status = 3;
  order.depositedMinor = 0;
  order.reversedAtMs = nowMs;
}

export interface Movement {
  readonly orderId: string;
  readonly orderNumber: string;
  readonly at: string;
  readonly type: "DEPOSIT" | "REFUND" | "REVERSAL";
  /** Centimes. Negative for refunds and reversals. */
  readonly amount: number;
}

/** Returns the money movements of an order, oldest first: deposit, refunds and reversal. */
export function movementsOf(order: Order): Movement[] {
  const { orderId, orderNumber, amountMinor, outcome, finishedAtMs, refunds = [], reversedAtMs } = order;
  const movement = (type: Movement["type"], atMs: number, amount: number) => ({
    ...{ orderId, orderNumber, at: new Date(atMs).toISOString(), type, amount },
  });
  if (outcome !== "accepted" || finishedAtMs === undefined) return [];
  return [
    movement("DEPOSIT", finishedAtMs, amountMinor),
    ...refunds.map((refund) => movement("REFUND", refund.atMs, -refund.amountMinor)),
    ...(reversedAtMs === undefined ? [] : [movement("REVERSAL", reversedAtMs, -amountMinor)]),
  ];
}

/** Returns the URL of the shop to which the browser returns. Keeps the query of the shop's URL. */
export function redirectUrl(order: Order): string {
  const isPaid = order.outcome === "accepted";
  const url = new URL(isPaid ? order.returnUrl : order.failUrl);
  url.searchParams.set("orderId", order.orderId);
  return url.href;
}

function finish(order: Order, outcome: OutcomeName, atMs: number): void {
  order.status = outcomeOf(outcome).actionCode === 0 ? 2 : 6;
  order.outcome = outcome;
  order.finishedAtMs = atMs;
}
