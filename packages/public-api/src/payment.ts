import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { Type } from "typebox";
import { paymentStatuses } from "./names.ts";
import { renderer } from "./renderer.ts";

const optionalText = () => Type.Optional(Type.String());

export const PaymentJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  amount: Type.String({ examples: ["5000.00"] }),
  currency: Type.String({ examples: ["DZD"] }),
  status: Type.Enum(paymentStatuses),
  language: Type.String({ examples: ["FR"] }),
  success_url: Type.String(),
  fail_url: Type.String(),
  processor_order_number: Type.String(),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  paid_at: Type.Optional(Type.String({ format: "date-time" })),
  action_code: optionalText(),
  action_code_description: optionalText(),
  approval_code: optionalText(),
  card_brand: optionalText(),
  description: optionalText(),
  form_url: optionalText(),
  masked_pan: optionalText(),
  order_ref: optionalText(),
  resp_code: optionalText(),
  resp_code_desc: optionalText(),
  processor_error_code: optionalText(),
  processor_order_id: optionalText(),
  processor_order_status: Type.Optional(Type.Integer()),
  refunded_amount: Type.Optional(Type.String({ examples: ["5000.00"] })),
  origin: Type.Optional(
    Type.String({ examples: ["PROCESSOR"], description: "PROCESSOR: given back or reversed there, not through this API." }),
  ),
});

/** A payment as the public API shows it. */
export const renderPayment = renderer(PaymentSchema, PaymentJson);
