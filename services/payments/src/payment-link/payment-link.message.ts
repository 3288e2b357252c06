import {
  CustomerFieldRule,
  type PaymentLink as PaymentLinkMessage,
  PaymentLinkSchema,
  PaymentLinkStatus,
} from "@amana/contracts/payments/v1/payment_link_pb";
import { ListPaymentLinksRequestSchema } from "@amana/contracts/payments/v1/payment_link_service_pb";
import { defineList, defineView, type RowOf } from "@amana/database";
import { PaymentLink, statusSql } from "./payment-link.ts";

export const paymentLinkView = defineView(PaymentLink, PaymentLinkSchema, {
  columns: ["token", "nameRule", "emailRule", "phoneRule"],
  expressions: { statusNow: statusSql },
});
type PaymentLinkRow = RowOf<typeof paymentLinkView>;

/**
 * Converts a row of a payment link to a message, with the status at the time when the row was read.
 */
export const toPaymentLinkMessage =
  ({ publicUrl }: { readonly publicUrl: string }) =>
  (row: PaymentLinkRow): PaymentLinkMessage =>
    paymentLinkView.toMessage(row, {
      url: `${publicUrl}/pay/${row.token}`,
      status: PaymentLinkStatus[row.statusNow as keyof typeof PaymentLinkStatus],
      customerFields: {
        name: CustomerFieldRule[row.nameRule],
        email: CustomerFieldRule[row.emailRule],
        phone: CustomerFieldRule[row.phoneRule],
      },
    });

/**
 * Converts a payment link to a message, with the status at `now`, a time of the database's clock.
 */
export const describePaymentLink = (context: { readonly publicUrl: string }, link: PaymentLink, now: Date): PaymentLinkMessage =>
  toPaymentLinkMessage(context)({ ...link, statusNow: link.statusAt(now) });

export const paymentLinkList = defineList(
  paymentLinkView,
  ListPaymentLinksRequestSchema,
  { status: `${statusSql} = ?`, search: { contains: "search_text" } },
  { lookUpIn: "payment_link_of_tenants" },
);
