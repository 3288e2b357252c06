import { enumName } from "@amana/contracts/enum-names";
import { CustomerFieldRule, type PaymentLink, PaymentLinkSchema } from "@amana/contracts/payments/v1/payment_link_pb";
import { Type } from "typebox";
import { customerFieldRules, paymentLinkStatuses } from "./names.ts";
import { createRenderer, withMember } from "./renderer.ts";

const optionalText = (description?: string) => Type.Optional(Type.String(description === undefined ? {} : { description }));
const amount = (description: string) => Type.String({ description, examples: ["5000.00"] });
const ruleSchema = () => Type.Enum(customerFieldRules);

/**
 * Schema of a payment link. A link has either `amount`, or `amount_min` and `amount_max`. The
 * totals include payments that were refunded later.
 */
export const PaymentLinkJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  business_id: Type.String({ format: "uuid" }),
  status: Type.Enum(paymentLinkStatuses, {
    description: "INACTIVE: deactivated. EXPIRED: `expires_at` has passed. COMPLETED: `max_payments` payments are paid.",
  }),
  url: Type.String({ description: "Checkout page, for buyers.", examples: ["https://pay.example/pay/3q2bPq9tR1yJ0c8mXw7LkA"] }),
  name: Type.String({ description: "Item or service that is sold, shown to the buyer." }),
  description: optionalText(),
  amount: Type.Optional(amount("Fixed price, in the currency.")),
  amount_min: Type.Optional(amount("Lowest amount that the buyer can enter.")),
  amount_max: Type.Optional(amount("Highest amount that the buyer can enter.")),
  currency: Type.String({ description: "Currency (ISO 4217).", examples: ["DZD"] }),
  language: Type.String({ description: "First language of the page.", examples: ["FR"] }),
  order_ref: optionalText("Your own identifier of the order, copied to each payment."),
  customer_fields: Type.Object({ name: ruleSchema(), email: ruleSchema(), phone: ruleSchema() }),
  success_url: optionalText(),
  fail_url: optionalText(),
  conditions_url: optionalText(),
  max_payments: Type.Optional(Type.Integer({ description: "Number of payments after which the link is COMPLETED." })),
  expires_at: Type.Optional(Type.String({ format: "date-time" })),
  payments_paid: Type.Integer({ description: "Number of payments that became PAID." }),
  amount_paid: amount("Sum of these payments."),
  amount_refunded: amount("Sum of the refunds of these payments."),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  metadata: Type.Object(
    {},
    { additionalProperties: true, description: "Your own data, unchanged, including the order of keys." },
  ),
});

const nameOfRule = (rule: CustomerFieldRule | undefined) => rule && enumName(CustomerFieldRule, rule);

const renderView = createRenderer(PaymentLinkSchema, Type.Omit(PaymentLinkJson, ["metadata"]), {
  customer_fields: ({ customerFields: fields }) => ({
    name: nameOfRule(fields?.name),
    email: nameOfRule(fields?.email),
    phone: nameOfRule(fields?.phone),
  }),
});

/** Renders a payment link as JSON text, with the metadata unchanged as the last member. */
export const renderPaymentLink = (link: PaymentLink): string => withMember(renderView(link), "metadata", link.metadata ?? "{}");
