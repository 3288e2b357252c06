import { enumNames } from "@amana/contracts/enum-names";
import { StatementLineSchema, StatementLineType } from "@amana/contracts/payments/v1/statement_service_pb";
import { Type } from "typebox";
import { createRenderer } from "./renderer.ts";

const uuid = (description: string) => Type.String({ format: "uuid", description });

export const StatementLineJson = Type.Object({
  at: Type.String({ format: "date-time", description: "Time at which the payment, refund or reversal took effect." }),
  type: Type.Enum(enumNames(StatementLineType)),
  payment_id: uuid("Id of the payment."),
  payment_link_id: Type.Optional(uuid("Id of the payment link from which the payment was started.")),
  order_ref: Type.Optional(Type.String({ description: "Your own identifier of the order." })),
  processor_order_number: Type.String({ description: "Order number at the card processor." }),
  amount: Type.String({ description: "Amount in the currency. Negative for a refund or reversal.", examples: ["-1250.00"] }),
  running_total: Type.String({
    description: "Sum of the amounts from the start of the statement to this line, inclusive.",
    examples: ["3750.00"],
  }),
  currency: Type.String({ description: "Currency (ISO 4217).", examples: ["DZD"] }),
  origin: Type.Optional(
    Type.String({
      examples: ["PROCESSOR"],
      description: "PROCESSOR for a refund or reversal at the card processor without Amana.",
    }),
  ),
});

/** Renders a line without its running total. */
export const renderStatementLine = createRenderer(StatementLineSchema, Type.Omit(StatementLineJson, ["running_total"]));
