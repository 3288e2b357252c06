import type { Evidence } from "@amana/service";

/** Without the addresses that lead to a card form or back from one. */
export const paymentEvidence: readonly Evidence[] = [
  {
    name: "payments",
    select: `select created_at as at, id, json_strip_nulls(json_build_object('id', id, 'amount_minor', amount_minor, 'currency', currency,
      'status', status, 'origin', origin, 'refunded_amount_minor', refunded_amount_minor, 'order_ref', order_ref,
      'description', description, 'processor_order_number', processor_order_number, 'processor_order_id', processor_order_id,
      'processor_order_status', processor_order_status, 'processor_error_code', processor_error_code, 'action_code', action_code,
      'resp_code', resp_code, 'approval_code', approval_code, 'masked_pan', masked_pan, 'card_brand', card_brand,
      'created_at', created_at, 'updated_at', updated_at, 'paid_at', paid_at)) as json
      from payment where business_id = ?`,
  },
  {
    name: "refunds",
    select: `select created_at as at, id, json_strip_nulls(json_build_object('id', id, 'payment_id', payment_id, 'amount_minor', amount_minor,
      'status', status, 'resolution', resolution, 'processor_error_code', processor_error_code, 'sends', sends,
      'last_sent_at', last_sent_at, 'created_at', created_at, 'updated_at', updated_at)) as json
      from refund where business_id = ?`,
  },
];
