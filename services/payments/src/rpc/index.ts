import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { type ServedService, serve } from "@amana/rpc";
import type { Context } from "../context.ts";
import { createPayment } from "./create-payment.ts";
import { getPayment } from "./get-payment.ts";
import { listChangedPayments } from "./list-changed-payments.ts";
import { listPayments } from "./list-payments.ts";
import { listRefunds } from "./list-refunds.ts";
import { refreshPayment } from "./refresh-payment.ts";
import { refundPayment } from "./refund-payment.ts";
import { resolveRefund } from "./resolve-refund.ts";
import { returnFromProcessor } from "./return-from-processor.ts";

export const rpcServices = (context: Context): ServedService[] => [
  serve(PaymentService, {
    createPayment: createPayment(context),
    getPayment: getPayment(context),
    listPayments: listPayments(context),
    refundPayment: refundPayment(context),
    refreshPayment: refreshPayment(context),
    returnFromProcessor: returnFromProcessor(context),
  }),
  serve(RefundService, {
    listRefunds: listRefunds(context),
    resolveRefund: resolveRefund(context),
    listChangedPayments: listChangedPayments(context),
  }),
];
