import { CheckoutService } from "@amana/contracts/payments/v1/checkout_service_pb";
import { PaymentLinkService } from "@amana/contracts/payments/v1/payment_link_service_pb";
import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { ReceiptService } from "@amana/contracts/payments/v1/receipt_service_pb";
import { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { StatementService } from "@amana/contracts/payments/v1/statement_service_pb";
import { serveFrom } from "@amana/rpc";
import { startHourlyJobs } from "@amana/runtime";
import type { Service } from "@amana/service-host";
import { type Config, readConfig } from "./config.ts";
import { type Context, createContext } from "./context.ts";
import { advanceRefunds } from "./jobs/advance-refunds.ts";
import { deleteOldReceiptMails } from "./jobs/delete-old-receipt-mails.ts";
import { fillMoneyMovements } from "./jobs/fill-money-movements.ts";
import { reconcilePayments } from "./jobs/reconcile-payments.ts";
import { followUpPayments, rereadPayments } from "./jobs/reread-payments.ts";
import { sendReceiptMails } from "./jobs/send-receipt-mails.ts";
import { showUnfinished } from "./metrics.ts";
import { database } from "./orm.ts";
import { watchHistory } from "./refund/refund-hold.ts";
import * as rpcs from "./rpc/index.ts";

/** Definition of the payments service. */
export const payments: Service<Config, Context> = {
  name: "payments",
  database,
  readConfig,
  createContext,
  rpcServices: (context) => [
    serveFrom(PaymentService, rpcs, context),
    serveFrom(PaymentLinkService, rpcs, context),
    serveFrom(CheckoutService, rpcs, context),
    serveFrom(RefundService, rpcs, context),
    serveFrom(ReceiptService, rpcs, context),
    serveFrom(StatementService, rpcs, context),
  ],
  jobs: (context) => [
    reconcilePayments(context),
    watchHistory(context),
    advanceRefunds(context),
    rereadPayments(context),
    followUpPayments(context),
    showUnfinished(context.orm),
    fillMoneyMovements(context),
    ...(context.mailer ? [sendReceiptMails(context)] : []),
    ...startHourlyJobs(context, { deleteOldReceiptMails }),
  ],
};
