import { PaymentJson, parseMoney, paymentStatuses, renderPayment } from "@amana/public-api";
import { Code, ConnectError } from "@connectrpc/connect";
import { Type } from "typebox";
import { anyCaseChoice, choice, createdBetween, money, processorText, uuid } from "../form/fields.ts";
import { webUrl } from "../form/web-url.ts";
import type { App, Gateway } from "../gateway.ts";
import { act, create, list, read } from "../operations.ts";
import { Problem } from "../problem.ts";
import type { ProblemCode } from "../problem-catalogue.ts";

const currency = "DZD";
/** Creation and refund may take 40 s, with the look-up of the key and the way back. */
const processorTimeoutMs = 36_000;
/** A read that refreshes serves the stored state when the processor is slow. */
const refreshTimeoutMs = 15_000;

const payment = { tags: ["Payments"], answer: PaymentJson, render: renderPayment };

export async function payments(app: App, { rpc: { payments: rpc }, allowInsecureUrls }: Gateway): Promise<void> {
  const returnUrl = (example: string) => webUrl({ insecure: allowInsecureUrls, examples: [example] });

  create(app, "", {
    ...payment,
    rpc: rpc.createPayment,
    timeoutMs: processorTimeoutMs,
    summary: "Create a payment",
    description:
      "Registers the payment with the card processor. Send the card holder to `form_url`. The way back leads to " +
      "`success_url` or `fail_url` with `payment_id` and `status` appended, after a query that is already there.",
    body: {
      amount: money({
        description: "In DZD, at least 50.00 and at most 999999999999.99.",
        examples: ["5000.00"],
        // Twelve digits before the point are what the card processor takes.
        range: { pattern: "(?=0*([5-9]\\d|[1-9]\\d{2,11})(\\.|$))", message: ', from "50.00" to "999999999999.99"' },
      }),
      success_url: returnUrl("https://shop.example/paid"),
      fail_url: returnUrl("https://shop.example/failed"),
      order_ref: Type.Optional(processorText(20)),
      description: Type.Optional(processorText(512)),
      language: Type.Optional(anyCaseChoice(["AR", "FR", "EN"])),
      currency: Type.Optional(choice([currency])),
    },
    ask: ({ amount, language = "FR", currency: _, ...fields }, { send }) =>
      send({ ...fields, language, amount_minor: parseMoney(amount, currency) }).catch(timedOutAs("processor_outcome_unknown")),
  });

  list(app, "", {
    ...payment,
    rpc: rpc.listPayments,
    summary: "List payments, newest first",
    filters: {
      status: choice(paymentStatuses),
      order_ref: processorText(20),
      payment_link_id: uuid(),
      ...createdBetween(),
    },
  });

  read(app, "/:id", {
    ...payment,
    rpc: rpc.getPayment,
    timeoutMs: refreshTimeoutMs,
    summary: "Read a payment",
    description: "A PENDING payment is refreshed from the card processor, at most once in ten seconds.",
  });

  act(app, "/:id/refresh", {
    ...payment,
    rpc: rpc.refreshPayment,
    timeoutMs: refreshTimeoutMs,
    summary: "Ask the card processor about a payment now",
    description:
      "A refund or a reversal made at the processor itself is taken over, with `origin` PROCESSOR. The processor is asked at " +
      "most once in ten seconds; in between, and when it is slow, the answer is the stored payment.",
  });

  act(app, "/:id/refund", {
    ...payment,
    rpc: rpc.refundPayment,
    timeoutMs: processorTimeoutMs,
    config: { rateLimit: "refund", bulkhead: "refund" },
    summary: "Refund a PAID payment",
    description:
      "The whole payment without `amount`. A partial refund also ends in REFUNDED, so there is only one. After a 504 it is being " +
      "found out, and the payment stays locked until it is: do not pay back by other means. What was given back or reversed at " +
      "the card processor itself is never added to: the payment becomes what it is there, with `origin`, and the answer is 409.",
    body: { amount: Type.Optional(money({ description: "In DZD, at most what was paid.", examples: ["1250.00"] })) },
    ask: ({ id, amount }, { send }) =>
      send({ id, amount_minor: amount === undefined ? undefined : parseMoney(amount, currency) }).catch(
        timedOutAs("refund_outcome_unknown"),
      ),
  });
}

/** A deadline that passed at the card processor leaves the outcome open, and says so. */
const timedOutAs = (code: ProblemCode) => (error: unknown) => {
  throw error instanceof ConnectError && error.code === Code.DeadlineExceeded ? Problem.of(code) : error;
};
