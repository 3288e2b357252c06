import { PaymentJson, parseMoney, paymentStatuses, renderPayment } from "@amana/public-api";
import { Code, ConnectError } from "@connectrpc/connect";
import { Type } from "typebox";
import { anyCaseChoice, chargedAmountField, choice, createdBetween, email, money, processorText, uuid } from "../form/fields.ts";
import { webUrl } from "../form/web-url.ts";
import type { App, Gateway } from "../gateway.ts";
import { addActionRoute, addCreateRoute, addListRoute, addReadRoute } from "../operations.ts";
import { Problem } from "../problem.ts";
import type { ProblemCode } from "../problem-catalogue.ts";
import { addStatement } from "./statement.ts";

const currency = "DZD";
/**
 * Timeout of the RPC for a creation or refund. The whole request may take 40 s, of which 4 s are
 * reserved for the key look-up and the response.
 */
const processorTimeoutMs = 36_000;
/**
 * Timeout of a read. If the processor is slow, the payments service returns the stored state before
 * this timeout.
 */
const refreshTimeoutMs = 15_000;

const payment = { tag: "Payments", response: PaymentJson, render: renderPayment } as const;

export async function payments(app: App, gateway: Gateway): Promise<void> {
  const { allowInsecureUrls } = gateway;
  const rpc = gateway.rpc.payments;

  addCreateRoute(app, "", {
    ...payment,
    rpc: rpc.createPayment,
    timeoutMs: processorTimeoutMs,
    summary: "Create a payment",
    description:
      "Registers a payment with the card processor. Redirect the card holder to `form_url`. After the payment, the browser " +
      "returns to `success_url` or `fail_url` with `payment_id` and `status` appended to the query. Fails with 502 when the " +
      "processor rejects the payment. After a 504 the outcome is unknown: send the same request with the same Idempotency-Key again.",
    body: {
      amount: chargedAmountField("Amount of the payment."),
      success_url: webUrl(allowInsecureUrls, "Page for the card holder after a successful payment.", "https://shop.example/paid"),
      fail_url: webUrl(allowInsecureUrls, "Page for the card holder after any other outcome.", "https://shop.example/failed"),
      order_ref: Type.Optional(processorText(20, "Your own identifier of the order.")),
      description: Type.Optional(processorText(512, "Description of the payment for the card holder.")),
      language: Type.Optional(anyCaseChoice(["AR", "FR", "EN"], "Language of the card form, FR by default.")),
      currency: Type.Optional(choice([currency], "Currency (ISO 4217).")),
    },
    execute: ({ amount, language = "FR", currency: _, ...fields }, { send }) =>
      send({ ...fields, language, amount_minor: parseMoney(amount, currency) }).catch(
        throwAfterDeadline("processor_outcome_unknown"),
      ),
  });

  addListRoute(app, "", {
    ...payment,
    rpc: rpc.listPayments,
    summary: "List payments",
    description: "Returns the payments of your business that match all filters, newest first.",
    filters: {
      status: choice(paymentStatuses),
      order_ref: processorText(20, "Your own identifier of the order."),
      payment_link_id: uuid("Id of a payment link. An unknown id returns 404 `payment_link_not_found`."),
      customer_email: email("E-mail address that the buyer entered on a payment link. Case is ignored."),
      ...createdBetween(),
    },
  });

  addReadRoute(app, "/:id", {
    ...payment,
    rpc: rpc.getPayment,
    timeoutMs: refreshTimeoutMs,
    summary: "Get a payment",
    description:
      "Returns a payment. The status of a PENDING payment is refreshed from the card processor, at most once in ten seconds.",
  });

  addActionRoute(app, "/:id/refresh", {
    ...payment,
    rpc: rpc.refreshPayment,
    timeoutMs: refreshTimeoutMs,
    summary: "Refresh a payment",
    description:
      "Reads the state of the order from the card processor and applies it. A refund or reversal that was made at the " +
      "processor is adopted, with `origin` PROCESSOR. The processor is queried at most once in ten seconds; otherwise, or " +
      "when it is slow, the response is the stored payment.",
  });

  addActionRoute(app, "/:id/refund", {
    ...payment,
    tag: "Refunds",
    rpc: rpc.refundPayment,
    timeoutMs: processorTimeoutMs,
    config: { rateLimit: "refund", bulkhead: "refund" },
    summary: "Refund a payment",
    description:
      "Refunds the full amount of a PAID payment, or a part of it with `amount`. A payment can be refunded once, also " +
      "partially; its status becomes REFUNDED. Fails with 409 when the payment is not PAID or a refund is in progress, and " +
      "with 422 when the card processor refuses the refund. After a 504 the outcome is unknown: Amana determines it and " +
      "locks the payment meanwhile. Do not refund it by other means. If the payment was already refunded or reversed at the " +
      "processor, no refund is sent; the payment adopts that state and the response is 409.",
    body: {
      amount: Type.Optional(
        money({
          description: "Amount of the refund in DZD, greater than zero and at most the paid amount; the paid amount by default.",
          examples: ["1250.00"],
        }),
      ),
    },
    execute: ({ id, amount }, { send }) =>
      send({ id, amount_minor: amount === undefined ? undefined : parseMoney(amount, currency) }).catch(
        throwAfterDeadline("refund_outcome_unknown"),
      ),
  });

  addStatement(app, gateway);
}

/**
 * Creates a handler for errors of a call. If the deadline of the call has passed, the handler
 * throws a Problem with the code, because the outcome at the card processor is unknown. It throws
 * any other error unchanged.
 */
const throwAfterDeadline = (code: ProblemCode) => (error: unknown) => {
  throw error instanceof ConnectError && error.code === Code.DeadlineExceeded ? Problem.of(code) : error;
};
