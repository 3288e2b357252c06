import { forOperators, readPage } from "@amana/service";
import { changedPaymentView, toPaymentMessage } from "../payment/payment.message.ts";
import { changedPaymentList } from "../payment/queries.ts";

/** Payments that the processor changed, or says of what no rule explains. */
export const listChangedPayments = readPage(
  changedPaymentList,
  "payments",
  (row) => changedPaymentView.toMessage(row, { payment: toPaymentMessage(row) }),
  { ownerOf: forOperators },
);
