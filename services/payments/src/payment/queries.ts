import { listPage, namedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { PaymentColumns } from "./payment.message.ts";

const columns = `id, business_id as "businessId", amount_minor as "amountMinor", currency, status, language,
  success_url as "successUrl", fail_url as "failUrl", description, order_ref as "orderRef",
  processor_order_number as "processorOrderNumber", processor_order_id as "processorOrderId", form_url as "formUrl",
  processor_error_code as "processorErrorCode", processor_order_status as "processorOrderStatus",
  action_code as "actionCode", action_code_description as "actionCodeDescription", resp_code as "respCode",
  resp_code_desc as "respCodeDesc", approval_code as "approvalCode", masked_pan as "maskedPan", card_brand as "cardBrand",
  refunded_amount_minor as "refundedAmountMinor", origin, paid_at as "paidAt", created_at as "createdAt", updated_at as "updatedAt"`;

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
  readonly status: string | undefined;
  readonly orderRef: string | undefined;
  readonly createdFrom: Date | undefined;
  /** Exclusive. */
  readonly createdTo: Date | undefined;
}

/** A page of a business's payments, newest first, and how many there are in all. */
export const readPayments = (
  em: SqlEntityManager,
  businessId: string,
  by: PaymentFilter,
  page: { limit: number; offset: number },
) =>
  listPage<PaymentColumns>(em, {
    table: "payment",
    columns,
    businessId,
    filters: [
      { column: "status", is: by.status },
      { column: "order_ref", is: by.orderRef },
      { sql: "created_at >= ?", value: by.createdFrom },
      { sql: "created_at < ?", value: by.createdTo },
    ],
    limit: page.limit,
    offset: page.offset,
  });
