import type { Receipt } from "@amana/contracts/payments/v1/receipt_pb";
import { Type } from "typebox";
import { formatMoney } from "./money.ts";
import { isoTimestamp } from "./renderer.ts";

const optionalText = () => Type.Optional(Type.String());
const time = (description: string) => Type.String({ format: "date-time", description });

/** Toll-free number of the card holders' help line in Algeria. */
const helpline = "3020";

export const ReceiptJson = Type.Object({
  payment_id: Type.String({ format: "uuid" }),
  receipt_number: Type.String({
    description: "Unique number of the receipt. It never changes.",
    examples: ["20261125-1234567890"],
  }),
  issued_at: time("Time of the last change that the receipt shows: of the refund if there is one, otherwise of the payment."),
  business_name: Type.String({ description: "Name of your business." }),
  order_ref: optionalText(),
  description: optionalText(),
  processor_order_id: optionalText(),
  processor_order_number: Type.String(),
  approval_code: optionalText(),
  resp_code_desc: optionalText(),
  card_brand: optionalText(),
  masked_pan: optionalText(),
  amount: Type.String({ description: "Paid amount, in the currency.", examples: ["5000.00"] }),
  currency: Type.String({ description: "Currency (ISO 4217).", examples: ["DZD"] }),
  paid_at: time("Time of the payment."),
  refunded_amount: Type.Optional(Type.String({ description: "Refunded amount, in the currency.", examples: ["1250.00"] })),
  refunded_at: Type.Optional(time("Time of the last refund. Absent if the time is not known.")),
  customer_name: Type.Optional(Type.String({ description: "Name that the buyer entered on the page of the payment link." })),
  helpline: Type.String({ description: "Free number of the card holders' help line.", examples: [helpline] }),
});

/** Renders the receipt of a PAID or REFUNDED payment as public JSON. */
export function renderReceipt({ payment, receiptNumber, issuedAtMs, refundedAtMs }: Receipt, businessName: string) {
  if (!payment) throw new TypeError("the receipt has no payment");
  const { refundedAmountMinor, currency } = payment;
  return {
    payment_id: payment.id,
    receipt_number: receiptNumber,
    issued_at: isoTimestamp(issuedAtMs),
    business_name: businessName,
    order_ref: payment.orderRef,
    description: payment.description,
    processor_order_id: payment.processorOrderId,
    processor_order_number: payment.processorOrderNumber,
    approval_code: payment.approvalCode,
    resp_code_desc: payment.respCodeDesc,
    card_brand: payment.cardBrand,
    masked_pan: payment.maskedPan,
    amount: formatMoney(payment.amountMinor, currency),
    currency,
    paid_at: isoTimestamp(payment.paidAtMs ?? payment.createdAtMs),
    refunded_amount: refundedAmountMinor === undefined ? undefined : formatMoney(refundedAmountMinor, currency),
    refunded_at: refundedAtMs === undefined ? undefined : isoTimestamp(refundedAtMs),
    customer_name: payment.customerName,
    helpline,
  };
}
