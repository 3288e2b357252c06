import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { idByPageTokenSql, pageTokenPattern } from "../payment/page-token.ts";
import { Payment } from "../payment/payment.ts";
import { receiptNotAvailable, receiptTokenUnknown } from "./receipt.errors.ts";

/** Returns the payment with this page token. Throws not_found for an unknown token. */
export async function findPaymentByToken(em: SqlEntityManager, token: string): Promise<Payment> {
  if (!pageTokenPattern.test(token)) throw receiptTokenUnknown();
  const [row] = await em.execute<{ id: string }[]>(idByPageTokenSql("?"), [token]);
  const payment = row && (await em.findOne(Payment, { id: row.id }));
  if (!payment) throw receiptTokenUnknown();
  return payment;
}

/** Throws receipt_not_available unless the payment is PAID or REFUNDED. */
export function requireReceiptAvailable(payment: Payment): void {
  if (!payment.isSettled()) throw receiptNotAvailable(payment.status);
}
