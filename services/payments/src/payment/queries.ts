import { namedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { PaymentColumns } from "./payment.message.ts";

const columns = `id, business_id as "businessId", amount_minor as "amountMinor", currency, status, language,
  success_url as "successUrl", fail_url as "failUrl", description, order_ref as "orderRef",
  processor_order_number as "processorOrderNumber", processor_order_id as "processorOrderId", form_url as "formUrl",
  processor_error_code as "processorErrorCode", processor_order_status as "processorOrderStatus",
  action_code as "actionCode", action_code_description as "actionCodeDescription", resp_code as "respCode",
  resp_code_desc as "respCodeDesc", approval_code as "approvalCode", masked_pan as "maskedPan", card_brand as "cardBrand",
  refunded_amount_minor as "refundedAmountMinor", paid_at as "paidAt", created_at as "createdAt", updated_at as "updatedAt"`;

/** One payment of a business: the busiest read of the service. */
export async function readPayment(em: SqlEntityManager, businessId: string, id: string): Promise<PaymentColumns | undefined> {
  const [row] = await namedQuery<PaymentColumns>(
    em,
    "payment_read",
    `select ${columns} from payment where business_id = $1 and id = $2`,
    [businessId, id],
  );
  return row;
}

export interface PaymentFilter {
  readonly status: string | null;
  readonly orderRef: string | null;
  readonly createdFrom: Date | null;
  readonly createdTo: Date | null;
}

const filter = `business_id = $1 and ($2::text is null or status = $2) and ($3::text is null or order_ref = $3)
  and ($4::timestamptz is null or created_at >= $4) and ($5::timestamptz is null or created_at < $5)`;

/** A page of a business's payments, newest first, and how many there are in all. */
export async function listPayments(em: SqlEntityManager, businessId: string, by: PaymentFilter, limit: number, offset: number) {
  const values = [businessId, by.status, by.orderRef, by.createdFrom, by.createdTo];
  const [rows, totals] = await Promise.all([
    namedQuery<PaymentColumns>(
      em,
      "payment_list",
      `select ${columns} from payment where ${filter} order by created_at desc, id desc limit $6 offset $7`,
      [...values, limit, offset],
    ),
    namedQuery<{ total: number }>(em, "payment_count", `select count(*)::int as total from payment where ${filter}`, values),
  ]);
  return { rows, total: totals[0]?.total ?? 0 };
}
