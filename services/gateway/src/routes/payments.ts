import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { PaymentJson, parseMoney, paymentStatuses, renderPayment } from "@amana/public-api";
import { Code, ConnectError } from "@connectrpc/connect";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import { field } from "../form/field.ts";
import { anyCaseChoice, choice, money, processorText, timestamp, timestampMs, uuid } from "../form/fields.ts";
import { pageParameters } from "../form/query.ts";
import { webUrl } from "../form/web-url.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { problems } from "../problems.ts";
import { PathId, pathId } from "./path-id.ts";

const currency = "DZD";
const amountMinorMin = 5_000n;
/** Twelve digits before the point are what the card processor takes. */
const amountMinorMax = 99_999_999_999_999n;
/** Payment creation and refund may take 40 s in all, the look-up of the key and the way back included. */
const processorTimeoutMs = 36_000;
/** A read that refreshes serves the stored state when the processor is slow. */
const refreshTimeoutMs = 15_000;

const tags = ["Payments"];

export const payments =
  ({ rpc, allowInsecureUrls }: Gateway) =>
  async (app: App): Promise<void> => {
    const returnUrl = (example: string) => webUrl({ insecure: allowInsecureUrls, examples: [example] });

    app.post(
      "",
      {
        schema: {
          tags,
          operationId: "createPayment",
          summary: "Create a payment",
          description:
            "Registers the payment with the card processor. Send the card holder to `form_url`. The way back leads to " +
            "`success_url` or `fail_url` with `payment_id` and `status` appended, after a query that is already there.",
          body: bodyOf({
            amount: field(money({ description: "In DZD, at least 50.00 and at most 999999999999.99.", examples: ["5000.00"] }), {
              message: 'must be a decimal string such as "5000.00", from "50.00" to "999999999999.99", with at most two decimals',
              accepts: (value: string) => {
                const amountMinor = parseMoney(value, currency);
                return amountMinor >= amountMinorMin && amountMinor <= amountMinorMax;
              },
            }),
            success_url: returnUrl("https://shop.example/paid"),
            fail_url: returnUrl("https://shop.example/failed"),
            order_ref: Type.Optional(processorText(20)),
            description: Type.Optional(processorText(512)),
            language: Type.Optional(anyCaseChoice(["AR", "FR", "EN"])),
            currency: Type.Optional(choice([currency])),
          }),
          response: { 201: PaymentJson },
        },
      },
      async (request, reply) => {
        const { amount, success_url, fail_url, order_ref, description, language = "FR" } = request.body;
        const payment = await rpc.payments
          .createPayment(
            {
              amountMinor: parseMoney(amount, currency),
              successUrl: success_url,
              failUrl: fail_url,
              language,
              orderRef: order_ref,
              description,
            },
            callOf(request, reply, processorTimeoutMs),
          )
          .catch(timedOutAs("processor_outcome_unknown"));
        reply.code(201).header("location", `/api/v1/payments/${payment.id}`);
        return renderPayment(payment);
      },
    );

    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listPayments",
          summary: "List payments, newest first",
          querystring: Type.Object({
            ...pageParameters(),
            status: Type.Optional(choice(paymentStatuses)),
            order_ref: Type.Optional(processorText(20)),
            payment_link_id: Type.Optional(uuid()),
            created_from: Type.Optional(timestamp({ description: "Created at this time or later." })),
            created_to: Type.Optional(timestamp({ description: "Created before this time, which is itself left out." })),
          }),
          response: { 200: Type.Array(PaymentJson) },
        },
      },
      async (request, reply) => {
        const { query } = request;
        const page = await rpc.payments.listPayments(
          {
            limit: query.limit,
            offset: query.offset,
            status: query.status && PaymentStatus[query.status],
            orderRef: query.order_ref,
            paymentLinkId: query.payment_link_id,
            createdFromMs: timestampMs(query.created_from),
            createdToMs: timestampMs(query.created_to),
          },
          callOf(request, reply),
        );
        pageHeaders(request, reply, query, page);
        return page.payments.map(renderPayment);
      },
    );

    app.get(
      "/:id",
      {
        schema: {
          tags,
          operationId: "getPayment",
          summary: "Read a payment",
          description: "A PENDING payment is refreshed from the card processor, at most once in ten seconds.",
          params: PathId,
          response: { 200: PaymentJson },
        },
      },
      async (request, reply) => {
        const id = pathId(request.params);
        return renderPayment(await rpc.payments.getPayment({ id }, callOf(request, reply, refreshTimeoutMs)));
      },
    );

    app.post(
      "/:id/refresh",
      {
        schema: {
          tags,
          operationId: "refreshPayment",
          summary: "Ask the card processor about a payment now",
          description:
            "A refund or a reversal made at the processor itself is taken over, with `origin` PROCESSOR. The processor is asked at " +
            "most once in ten seconds; in between, and when it is slow, the answer is the stored payment.",
          params: PathId,
          body: bodyOf({}, { optional: true }),
          response: { 200: PaymentJson },
        },
      },
      async (request, reply) => {
        const id = pathId(request.params);
        return renderPayment(await rpc.payments.refreshPayment({ id }, callOf(request, reply, refreshTimeoutMs)));
      },
    );

    app.post(
      "/:id/refund",
      {
        config: { rateLimit: "refund", lane: "refund" },
        schema: {
          tags,
          operationId: "refundPayment",
          summary: "Refund a PAID payment",
          description:
            "The whole payment without `amount`. A partial refund also ends in REFUNDED, so there is only one. After a 504 it is being " +
            "found out, and the payment stays locked until it is: do not pay back by other means. What was given back or reversed at " +
            "the card processor itself is never added to: the payment becomes what it is there, with `origin`, and the answer is 409.",
          params: PathId,
          body: bodyOf(
            { amount: Type.Optional(money({ description: "In DZD, at most what was paid.", examples: ["1250.00"] })) },
            { optional: true },
          ),
          response: { 200: PaymentJson },
        },
      },
      async (request, reply) => {
        const { amount } = request.body;
        const amountMinor = amount === undefined ? undefined : parseMoney(amount, currency);
        const call = callOf(request, reply, processorTimeoutMs);
        const id = pathId(request.params);
        const payment = await rpc.payments.refundPayment({ id, amountMinor }, call).catch(timedOutAs("refund_outcome_unknown"));
        return renderPayment(payment);
      },
    );
  };

/** A deadline that passed while the card processor was asked leaves the outcome open, and says so. */
const timedOutAs = (code: string) => (error: unknown) => {
  throw error instanceof ConnectError && error.code === Code.DeadlineExceeded ? problems.timedOut(code) : error;
};
