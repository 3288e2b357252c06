/** Returns a row of the payment table as the API returns it, for the bare servers. */
export function paymentJson(row: Record<string, unknown>) {
  const time = (value: unknown) => (value == null ? undefined : new Date(value as string).toISOString());
  const money = (value: unknown) => {
    if (value == null) return undefined;
    const digits = String(value).padStart(3, "0");
    return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
  };
  const text = (value: unknown) => (value == null ? undefined : value);
  return {
    id: row["id"],
    business_id: row["business_id"],
    amount: money(row["amount_minor"]),
    currency: row["currency"],
    status: row["status"],
    language: row["language"],
    success_url: row["success_url"],
    fail_url: row["fail_url"],
    processor_order_number: row["processor_order_number"],
    created_at: time(row["created_at"]),
    updated_at: time(row["updated_at"]),
    paid_at: time(row["paid_at"]),
    action_code: text(row["action_code"]),
    action_code_description: text(row["action_code_description"]),
    approval_code: text(row["approval_code"]),
    card_brand: text(row["card_brand"]),
    description: text(row["description"]),
    form_url: text(row["form_url"]),
    masked_pan: text(row["masked_pan"]),
    order_ref: text(row["order_ref"]),
    resp_code: text(row["resp_code"]),
    resp_code_desc: text(row["resp_code_desc"]),
    processor_error_code: text(row["processor_error_code"]),
    processor_order_id: text(row["processor_order_id"]),
    processor_order_status: text(row["processor_order_status"]),
    refunded_amount: money(row["refunded_amount_minor"]),
  };
}
