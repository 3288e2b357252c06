import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { Type } from "typebox";
import { paymentStatuses } from "./names.ts";
import { createRenderer } from "./renderer.ts";

const optionalText = () => Type.Optional(Type.String());

export const PaymentJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  amount: Type.String({ description: "Amount of the payment, in the currency.", examples: ["5000.00"] }),
  currency: Type.String({ description: "Currency (ISO 4217).", examples: ["DZD"] }),
  status: Type.Enum(paymentStatuses),
  language: Type.String({ examples: ["FR"] }),
  success_url: Type.String(),
  fail_url: Type.String(),
  processor_order_number: Type.String({ description: "Order number at the card processor." }),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  paid_at: Type.Optional(Type.String({ format: "date-time" })),
  action_code: optionalText(),
  action_code_description: optionalText(),
  approval_code: optionalText(),
  card_brand: optionalText(),
  description: optionalText(),
  form_url: Type.Optional(Type.String({ description: "Page with the card form, for the browser of the card holder." })),
  masked_pan: Type.Optional(Type.String({ description: "Masked card number." })),
  order_ref: Type.Optional(Type.String({ description: "Your own identifier of the order." })),
  resp_code: optionalText(),
  resp_code_desc: optionalText(),
  processor_error_code: optionalText(),
  processor_order_id: optionalText(),
  processor_order_status: Type.Optional(Type.Integer()),
  refunded_amount: Type.Optional(Type.String({ description: "Refunded amount, in the currency.", examples: ["5000.00"] })),
  origin: Type.Optional(
    Type.String({
      examples: ["PROCESSOR"],
      description: "PROCESSOR when the payment was refunded or reversed at the card processor without Amana.",
    }),
  ),
  payment_link_id: Type.Optional(
    Type.String({ format: "uuid", description: "Payment link from which the payment was started; absent for other payments." }),
  ),
  customer_name: Type.Optional(Type.String({ description: "Entered by the buyer if the payment link requests it." })),
  customer_email: optionalText(),
  customer_phone: Type.Optional(Type.String({ description: "Phone number of the buyer (E.164)." })),
  conditions_version: Type.Optional(Type.String({ description: "Version of the conditions that the buyer accepted." })),
  conditions_accepted_at: Type.Optional(Type.String({ format: "date-time" })),
  receipt_url: Type.Optional(
    Type.String({
      description: "Page with the receipt, for the buyer. Present when the payment is PAID or REFUNDED. It requires no API key.",
    }),
  ),
});

/** Renders a payment as public JSON. */
export const renderPayment = createRenderer(PaymentSchema, PaymentJson);
