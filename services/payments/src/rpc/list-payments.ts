import { readPage } from "@amana/service";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { paymentList } from "../payment/queries.ts";

export const listPayments = readPage(paymentList, "payments", toPaymentMessage);
