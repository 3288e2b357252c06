import { ListPaymentsRequestSchema } from "@amana/contracts/payments/v1/payment_service_pb";
import { ListChangedPaymentsRequestSchema } from "@amana/contracts/payments/v1/refund_service_pb";
import { defineList, type Tally } from "@amana/database";
import { changedPaymentView, paymentView } from "./payment.message.ts";

export const paymentTally: Tally = { table: "payment", dimensions: ["status"] };

export const paymentList = defineList(
  paymentView,
  ListPaymentsRequestSchema,
  {
    createdFromMs: "created_at >= ?",
    createdToMs: "created_at < ?",
    // No payment comes from a payment link yet, so none has this one.
    paymentLinkId: "?::text is null",
  },
  paymentTally,
);

export const changedPaymentList = defineList(changedPaymentView, ListChangedPaymentsRequestSchema, {});
