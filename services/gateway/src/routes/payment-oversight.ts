import {
  ChangedPaymentJson,
  PaymentTimelineJson,
  RefundJson,
  refundOutcomes,
  renderChangedPayment,
  renderPaymentTimeline,
  renderRefund,
} from "@amana/public-api";
import { DomainError } from "@amana/rpc";
import { Code, ConnectError } from "@connectrpc/connect";
import { callOf } from "../call.ts";
import { choice, flag, text } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addActionRoute, addListRoute, addReadRoute } from "../operations.ts";

const refund = { tag: "Operators", response: RefundJson, render: renderRefund } as const;

/** Adds the operations with which operators resolve refunds. */
export async function refundDecisions(app: App, { rpc: { refunds: rpc } }: Gateway): Promise<void> {
  addListRoute(app, "", {
    ...refund,
    rpc: rpc.listRefunds,
    summary: "List refunds",
    description:
      "Returns the refunds of all businesses, newest first, each with the last known state of the order at the card " +
      "processor. A refund needs a decision when its outcome is still unknown after a day, or when no rule explains the state " +
      "at the processor.",
    filters: { needs_decision: flag("`true` for the refunds that need a decision of an operator.") },
  });

  addActionRoute(app, "/:id/resolve", {
    ...refund,
    rpc: rpc.resolveRefund,
    summary: "Resolve a refund",
    description:
      "Decides a refund that needs a decision. ACCEPTED: the processor refunded the amount, and the payment becomes REFUNDED. " +
      "REJECTED: the processor did not and will not refund it, and the payment stays PAID. SEND_AGAIN: the refund is " +
      "sent once more, after the time in which an earlier request can still take effect, and only if the processor then has " +
      "no refund. A repeated decision with the same outcome changes nothing. Fails with 409 `refund_decision_not_open` for " +
      "other refunds. The decision is recorded in the audit trail.",
    body: {
      outcome: choice(refundOutcomes, "Decision about the refund."),
      note: text(1_000, { description: "Reason, stored in the audit trail." }),
    },
  });
}

/** Adds the operations with which operators inspect payments of all businesses. */
export async function paymentOversight(app: App, { rpc: { refunds: rpc, events } }: Gateway): Promise<void> {
  addReadRoute(app, "/:id/timeline", {
    tag: "Operators",
    rpc: rpc.getPaymentHistory,
    operationId: "getPaymentTimeline",
    summary: "Get the timeline of a payment",
    description:
      "Returns one list, oldest first, of the states of a payment and its refunds, the calls of the card processor, the " +
      "events for the business and their delivery attempts. `missing` contains the kinds that are unavailable at the " +
      "moment; `truncated` contains the kinds with more entries than returned.",
    response: PaymentTimelineJson,
    render: async (history, request, reply) => {
      const { id = "", businessId = "" } = history.payment ?? {};
      const filter = { businessId, paymentId: id, atMs: history.recordedAtMs };
      const eventsResponse = await events.listEventsOfPayment(filter, callOf(request, reply)).catch(undefinedIfUnavailable);
      return renderPaymentTimeline(history, eventsResponse);
    },
  });

  addListRoute(app, "", {
    tag: "Operators",
    rpc: rpc.listChangedPayments,
    summary: "List externally changed payments",
    description:
      "Returns the payments of all businesses that changed at the card processor without Amana, newest first. Payments with " +
      "`origin` were refunded or reversed there. Payments with `difference` have a state at the processor that no rule " +
      "explains; Amana has not changed them.",
    filters: { origin: choice(["PROCESSOR"], "Origin of the change. The list is the same without this filter.") },
    response: ChangedPaymentJson,
    render: renderChangedPayment,
    execute: ({ origin: _, ...page }, { send }) => send(page),
  });
}

/**
 * Returns undefined if a service is unavailable, so that operators still get the rest of the
 * timeline. Rethrows any other error.
 */
function undefinedIfUnavailable(error: unknown): undefined {
  const isUnavailable =
    error instanceof DomainError
      ? error.kind === "unavailable" || error.kind === "outcome_unknown"
      : error instanceof ConnectError && [Code.Unavailable, Code.DeadlineExceeded].includes(error.code);
  if (!isUnavailable) throw error;
}
