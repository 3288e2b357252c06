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
import { act, list, read } from "../operations.ts";

const refund = { tags: ["Payments"], answer: RefundJson, render: renderRefund };

/** For operators: refunds that nobody but a person can bring to their end. */
export async function refundDecisions(app: App, { rpc: { refunds: rpc } }: Gateway): Promise<void> {
  list(app, "", {
    ...refund,
    rpc: rpc.listRefunds,
    summary: "List refunds of all businesses, newest first",
    description:
      "With `needs_decision=true` those that wait for a person: nobody told what became of them in a day, or the card " +
      "processor says what fits no rule. Beside what we believe stands what the processor said, and when.",
    filters: { needs_decision: flag() },
  });

  act(app, "/:id/resolve", {
    ...refund,
    rpc: rpc.resolveRefund,
    summary: "Decide a refund that waits for a decision",
    description:
      "ACCEPTED: the processor gave it back, the payment is REFUNDED by this refund's amount. REJECTED: it did not and will " +
      "not, the payment is PAID again. SEND_AGAIN: the same refund is sent once more, after the time in which an earlier " +
      "request may still take effect and only if a read then shows none. The same outcome again changes nothing. Audited.",
    body: { outcome: choice(refundOutcomes), note: text(1_000, { description: "Why; kept in the audit trail." }) },
  });
}

/** For operators: what happened to payments, also at the processor without us. */
export async function paymentOversight(app: App, { rpc: { refunds: rpc, events } }: Gateway): Promise<void> {
  read(app, "/:id/timeline", {
    tags: ["Payments"],
    rpc: rpc.getPaymentHistory,
    operationId: "getPaymentTimeline",
    summary: "Read all that is known to have happened to a payment of any business",
    description:
      "In one list by time: what the payment and its refunds came to, what the card processor was asked and how that ended, the " +
      "events that told the business, and every attempt to deliver them. While these cannot be read the rest is answered, with `missing`. " +
      "What is too much to be shown whole is in `truncated`.",
    answer: PaymentTimelineJson,
    render: async (history, request, reply) => {
      const { id = "", businessId = "" } = history.payment ?? {};
      const asked = { businessId, paymentId: id, atMs: history.recordedAtMs };
      const told = await events.listEventsOfPayment(asked, callOf(request, reply)).catch(nobodyIfAway);
      return renderPaymentTimeline(history, told);
    },
  });

  list(app, "", {
    tags: ["Payments"],
    rpc: rpc.listChangedPayments,
    summary: "List payments of all businesses that changed at the card processor by themselves, newest first",
    description:
      "Given back or reversed in the processor's own back office, with `origin`; and those of which it says what no rule " +
      "explains, with `difference`, of which nothing was taken over. `origin` has no other value yet; the list is the same without it.",
    filters: { origin: choice(["PROCESSOR"]) },
    answer: ChangedPaymentJson,
    render: renderChangedPayment,
    ask: ({ origin: _, ...page }, { send }) => send(page),
  });
}

/** An operator looks most of all when something is away. */
function nobodyIfAway(error: unknown): undefined {
  const isAway =
    error instanceof DomainError
      ? error.kind === "unavailable" || error.kind === "outcome_unknown"
      : error instanceof ConnectError && [Code.Unavailable, Code.DeadlineExceeded].includes(error.code);
  if (!isAway) throw error;
}
