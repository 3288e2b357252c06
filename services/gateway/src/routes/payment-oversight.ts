import { RefundOutcome } from "@amana/contracts/payments/v1/refund_pb";
import { ChangedPaymentJson, RefundJson, refundOutcomes, renderChangedPayment, renderRefund } from "@amana/public-api";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import { choice, flag, text } from "../form/fields.ts";
import { pageParameters } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { PathId, pathId } from "./path-id.ts";

const tags = ["Payments"];

/** For operators: refunds that nobody but a person can bring to their end. */
export const refundDecisions =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listRefunds",
          summary: "List refunds of all businesses, newest first",
          description:
            "With `needs_decision=true` those that wait for a person: nobody told what became of them in a day, or the card " +
            "processor says what fits no rule. Beside what we believe stands what the processor said, and when.",
          querystring: Type.Object({ ...pageParameters(), needs_decision: Type.Optional(flag()) }),
          response: { 200: Type.Array(RefundJson) },
        },
      },
      async (request, reply) => {
        const { limit, offset, needs_decision } = request.query;
        const page = await rpc.refunds.listRefunds({ limit, offset, needsDecision: needs_decision }, callOf(request, reply));
        pageHeaders(request, reply, { limit, offset }, page);
        return page.refunds.map(renderRefund);
      },
    );

    app.post(
      "/:id/resolve",
      {
        schema: {
          tags,
          operationId: "resolveRefund",
          summary: "Decide a refund that waits for a decision",
          description:
            "ACCEPTED: the processor gave it back, the payment is REFUNDED by this refund's amount. REJECTED: it did not and will " +
            "not, the payment is PAID again. SEND_AGAIN: the same refund is sent once more, after the time in which an earlier " +
            "request may still take effect and only if a read then shows none. The same outcome again changes nothing. Audited.",
          params: PathId,
          body: bodyOf({
            outcome: choice(refundOutcomes),
            note: text(1_000, { description: "Why; kept in the audit trail." }),
          }),
          response: { 200: RefundJson },
        },
      },
      async (request, reply) => {
        const { outcome, note } = request.body;
        const refund = await rpc.refunds.resolveRefund(
          { id: pathId(request.params), outcome: RefundOutcome[outcome], note },
          callOf(request, reply),
        );
        return renderRefund(refund);
      },
    );
  };

/** For operators: payments that changed at the processor without us. */
export const changedPayments =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listChangedPayments",
          summary: "List payments of all businesses that changed at the card processor by themselves, newest first",
          description:
            "Given back or reversed in the processor's own back office, with `origin`; and those of which it says what no rule " +
            "explains, with `difference`, of which nothing was taken over. `origin` has no other value yet; the list is the same without it.",
          querystring: Type.Object({ ...pageParameters(), origin: Type.Optional(choice(["PROCESSOR"])) }),
          response: { 200: Type.Array(ChangedPaymentJson) },
        },
      },
      async (request, reply) => {
        const { limit, offset } = request.query;
        const page = await rpc.refunds.listChangedPayments({ limit, offset }, callOf(request, reply));
        pageHeaders(request, reply, { limit, offset }, page);
        return page.payments.map(renderChangedPayment);
      },
    );
  };
