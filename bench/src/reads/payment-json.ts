import { createHash } from "node:crypto";

const publicUrl = process.env["PUBLIC_URL"] ?? "";

/** Converts a row of a paid payment to the JSON that the API returns for the payment. */
export function toPaymentJson(row: Record<string, unknown>) {
  const formatTime = (value: unknown) => (value == null ? undefined : new Date(value as string).toISOString());
  const formatMoney = (value: unknown) => {
    if (value == null) return undefined;
    const digits = String(value).padStart(3, "0");
    return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
  };
  const omitNull = (value: unknown) => (value == null ? undefined : value);
  return {
    id: row["id"],
    business_id: row["business_id"],
    amount: formatMoney(row["amount_minor"]),
    currency: row["currency"],
    status: row["status"],
    language: row["language"],
    success_url: row["success_url"],
    fail_url: row["fail_url"],
    processor_order_number: row["processor_order_number"],
    created_at: formatTime(row["created_at"]),
    updated_at: formatTime(row["updated_at"]),
    paid_at: formatTime(row["paid_at"]),
    action_code: omitNull(row["action_code"]),
    action_code_description: omitNull(row["action_code_description"]),
    approval_code: omitNull(row["approval_code"]),
    card_brand: omitNull(row["card_brand"]),
    description: omitNull(row["description"]),
    form_url: omitNull(row["form_url"]),
    masked_pan: omitNull(row["masked_pan"]),
    order_ref: omitNull(row["order_ref"]),
    resp_code: omitNull(row["resp_code"]),
    resp_code_desc: omitNull(row["resp_code_desc"]),
    processor_error_code: omitNull(row["processor_error_code"]),
    processor_order_id: omitNull(row["processor_order_id"]),
    processor_order_status: omitNull(row["processor_order_status"]),
    receipt_url: `${publicUrl}/receipts/${createHash("sha256").update(String(row["return_token"])).digest("hex")}`,
    refunded_amount: formatMoney(row["refunded_amount_minor"]),
  };
}
