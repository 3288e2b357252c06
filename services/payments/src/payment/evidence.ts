import type { EvidenceFile } from "@amana/service-host";

/**
 * Columns that the evidence bundle contains (`shown`) and columns that it omits (`leftOut`). The
 * bundle omits URLs of card forms, return URLs and internal state of the service. It contains the
 * processor's codes, and therefore omits the descriptions of these codes. It omits receipt e-mails,
 * because the API does not return their addresses.
 */
export const evidenceColumns = {
  payment: {
    shown: `id, amount_minor, currency, status, origin, refunded_amount_minor, order_ref, description, processor_order_number,
      processor_order_id, processor_order_status, processor_error_code, action_code, resp_code, approval_code, masked_pan,
      card_brand, payment_link_id, customer_name, customer_email, customer_phone, conditions_version, conditions_accepted_at,
      created_at, updated_at, paid_at, refunded_at`,
    leftOut: `business_id, language, success_url, fail_url, return_token, form_url, action_code_description, resp_code_desc,
      idempotency_id, traceparent, version, checked_at, checks, next_check_at, leased_until, lease_token, refund_ended_at,
      next_reread_at, next_follow_up_at, processor_refunded_minor, processor_read_at, difference, form_token, link_metadata,
      receipt_mails`,
  },
  payment_link: {
    shown: `id, name, description, amount_minor, amount_min_minor, amount_max_minor, currency, order_ref, name_rule, email_rule,
      phone_rule, max_payments, expires_at, is_active, payments_paid, amount_paid_minor, amount_refunded_minor, created_at,
      updated_at`,
    leftOut: `business_id, token, language, success_url, fail_url, conditions_url, metadata, search_text, version`,
  },
  refund: {
    shown: `id, payment_id, amount_minor, status, resolution, processor_error_code, sends, last_sent_at, created_at, updated_at`,
    leftOut: `business_id, refunded_before_minor, resend_after, decision_due_at, needs_decision_since, decision_reason,
      processor_refunded_minor, processor_order_status, processor_read_at, idempotency_id, traceparent, version, checks,
      next_check_at, leased_until, lease_token`,
  },
};

const buildSelect = (table: keyof typeof evidenceColumns) => `select created_at as at, id,
  (select json_strip_nulls(to_json(shown)) from (select ${evidenceColumns[table].shown}) shown) as json
  from ${table} where business_id = ?`;

export const paymentEvidence: readonly EvidenceFile[] = [
  { name: "payments", select: buildSelect("payment") },
  { name: "payment_links", select: buildSelect("payment_link") },
  { name: "refunds", select: buildSelect("refund") },
];
