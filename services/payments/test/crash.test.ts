import { CheckoutService, CheckoutState } from "@amana/contracts/payments/v1/checkout_service_pb";
import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentLinkStatus } from "@amana/contracts/payments/v1/payment_link_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { createRpcClient, platformCaller } from "@amana/rpc";
import { callUntilKilled, startTestProcess } from "@amana/service-host/testing";
import { aBusinessCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  aPaymentRequest,
  type Harness,
  linkTokenOf,
  mailSettings,
  paymentsSettings,
  startCheckout,
  startHarness,
} from "./harness.ts";
import { startMailServer } from "./mail-server.ts";

type Caller = ReturnType<typeof aBusinessCaller>;

/**
 * A database, a sandbox, and a payments service that stays alive when the tests kill another
 * payments process.
 */
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

/**
 * Starts a payments process that is killed at a fault point during the call. Then ends the leases
 * of the process, so that the test does not wait until the leases expire.
 */
async function killDuring(
  faultPoint: string,
  caller: Caller,
  call: (payments: Harness["payments"], checkout: Harness["checkout"]) => Promise<unknown>,
) {
  const service = await startTestProcess("payments", {
    DATABASE_URL: harness.databaseUrl,
    ...paymentsSettings(harness.sandbox.url),
    FAULT_POINT: faultPoint,
  });
  const isReady = (payments: Harness["payments"]) => payments.listPayments({ limit: 1 }, { caller });
  const checkout = createRpcClient(CheckoutService, service.channel);
  const client = createRpcClient(PaymentService, service.channel);
  await callUntilKilled(service, client, isReady, (payments) => call(payments, checkout));
  for (const table of ["payment", "refund"]) {
    const makeDue = `update ${table} set leased_until = now(), next_check_at = now() where business_id = ? and next_check_at is not null`;
    await harness.sql(makeDue, [caller.businessId]);
  }
}

async function expectRefundedOnce(id: string, caller: Caller) {
  const payment = await harness.payments.getPayment({ id }, { caller });
  expect(payment).toMatchObject({ status: PaymentStatus.REFUNDED, refundedAmountMinor: aPaymentRequest.amountMinor });
  expect(await harness.countCalls(payment, "refund")).toBe(1);
  expect((await harness.sandbox.order(payment.processorOrderId)).refundedAmount).toBe(Number(aPaymentRequest.amountMinor));
  const refundedEvents = (await harness.readEvents(id)).filter(({ type }) => type === PaymentEventType.PAYMENT_REFUNDED);
  expect(refundedEvents).toHaveLength(1);
}

test.each([
  ["refund.requested", "after the commit of REQUESTED, before the request is sent"],
  ["refund.answering", "after the request was sent, before the response is read"],
  ["refund.answered", "after the response was read, before the outcome is committed"],
  ["refund.committed", "after the commit, before the RPC responds"],
])(
  "the payments service, killed at %s during a refund (%s), executes the refund once and emits one event",
  async (faultPoint) => {
    const caller = aBusinessCaller();
    const { id } = await harness.aFinishedPayment(caller);
    const keyOptions = withIdempotencyKey(caller, "k");
    const refund = (payments: Harness["payments"]) => payments.refundPayment({ id }, keyOptions);
    await killDuring(faultPoint, caller, refund);
    await using _worker = harness.startRefundWorker();
    const response = await eventually(() => refund(harness.payments));
    expect(keyOptions.replayed).toBe(true);
    expect(response).toMatchObject({ id, status: PaymentStatus.REFUNDED });
    expect(await refund(harness.payments)).toEqual(response);
    await expectRefundedOnce(id, caller);
  },
);

test("advanceRefunds completes a refund that was requested without an Idempotency-Key if the process was killed before it called the processor", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.aFinishedPayment(caller);
  await killDuring("refund.requested", caller, (payments) => payments.refundPayment({ id }, { caller, timeoutMs: 20_000 }));
  await using _worker = harness.startRefundWorker();
  await eventually(() => expectRefundedOnce(id, caller));
});

test.each(["payment.begun", "register.answering", "payment.registered"])(
  "the payments service, killed at %s during createPayment, creates one payment with one order if the request is repeated",
  async (faultPoint) => {
    const caller = aBusinessCaller();
    const create = (payments: Harness["payments"]) => payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, "k"));
    await killDuring(faultPoint, caller, create);
    await using _worker = harness.startReconciler();
    const createdPayment = await eventually(() => create(harness.payments));
    expect(createdPayment.formUrl).toContain(createdPayment.processorOrderId);
    expect(await create(harness.payments)).toEqual(createdPayment);
    expect(await harness.sql("select id from payment where business_id = ?", [caller.businessId])).toEqual([
      { id: createdPayment.id },
    ]);
    const order = await harness.sandbox.byNumber(createdPayment.processorOrderNumber);
    expect(order.orderId).toBe(createdPayment.processorOrderId);
  },
);

test.each([
  ["payment.begun", "after the commit of the payment, before the registration of the order"],
  ["register.answering", "after the registration was sent, before the response is read"],
  ["payment.registered", "after the registration of the order, before its commit"],
])(
  "the payments service, killed at %s during startCheckout (%s), starts one payment, which occupies the only slot of the link",
  async (faultPoint) => {
    const caller = aBusinessCaller();
    const link = await harness.aPaymentLink(caller, { maxPayments: 1 });
    const form = { formToken: "form-of-the-buyer" };
    await killDuring(faultPoint, caller, (_payments, checkout) => startCheckout(checkout, link, form));
    expect(await refusal(harness.startCheckout(link))).toMatchObject({ code: "payment_link_full" });

    await using _worker = harness.startReconciler();
    const { payment, paymentToken } = await eventually(() => harness.startCheckout(link, form));
    expect(payment?.formUrl).toContain(payment?.processorOrderId);
    expect(await harness.startCheckout(link, { paymentToken })).toMatchObject({ payment: { id: payment?.id } });
    expect(await refusal(harness.startCheckout(link))).toMatchObject({ code: "payment_link_full" });
    expect(await harness.sql("select id from payment where business_id = ?", [caller.businessId])).toEqual([{ id: payment?.id }]);
    expect((await harness.sandbox.byNumber(payment?.processorOrderNumber ?? "")).orderId).toBe(payment?.processorOrderId);

    await harness.sandbox.pay(payment?.processorOrderId);
    await harness.returnFromProcessor(payment?.id ?? "");
    await expectCompletedOnce(link, caller, payment?.id ?? "");
  },
);

test("the payments service, killed at payment.confirmed, counts a link's last payment once and completes the link once", async () => {
  const caller = aBusinessCaller();
  const link = await harness.aPaymentLink(caller, { maxPayments: 1 });
  const { payment } = await harness.startCheckout(link);
  const id = payment?.id ?? "";
  await harness.sandbox.pay(payment?.processorOrderId);
  await killDuring("payment.confirmed", caller, (payments) => payments.getPayment({ id }, { caller, timeoutMs: 20_000 }));
  expect(await harness.checkout.getCheckout({ linkToken: linkTokenOf(link) }, { caller: platformCaller })).toMatchObject({
    state: CheckoutState.FULL,
  });
  expect(await harness.sandbox.order(payment?.processorOrderId)).toMatchObject({ confirmed: true });
  await using _worker = harness.startReconciler();
  await eventually(() => expectCompletedOnce(link, caller, id));
  // The response to the repeated confirm has error code 2.
  const { calls } = await harness.sandbox.order(payment?.processorOrderId);
  expect(calls.filter(({ operation }) => operation === "confirm")).toHaveLength(2);
});

async function expectCompletedOnce({ id }: { readonly id: string }, caller: Caller, paymentId: string) {
  expect(await harness.links.getPaymentLink({ id }, { caller })).toMatchObject({
    status: PaymentLinkStatus.COMPLETED,
    paymentsPaid: 1,
    amountPaidMinor: 500_000n,
  });
  const types = (await harness.readEvents(paymentId)).map(({ type }) => type);
  expect(types).toEqual([PaymentEventType.PAYMENT_COMPLETED, PaymentEventType.PAYMENT_LINK_COMPLETED]);
}

test.each([
  ["receipt.sending", "before the SMTP server gets the e-mail", 1],
  ["receipt.sent", "after the SMTP server has accepted the e-mail", 2],
])(
  "the payments service, killed at %s (%s), sends the receipt e-mail %i times in total, each time with the same Message-ID",
  async (faultPoint, _moment, times) => {
    await using mails = await startMailServer();
    await using sender = await startHarness({ sandbox: harness.sandbox, smtpUrl: mails.url() });
    const caller = aBusinessCaller();
    const { receiptUrl = "", id } = await sender.aFinishedPayment(caller);
    const token = receiptUrl.split("/").at(-1) ?? "";
    await using service = await startTestProcess("payments", {
      DATABASE_URL: sender.databaseUrl,
      ...paymentsSettings(harness.sandbox.url),
      ...mailSettings(mails.url()),
      FAULT_POINT: faultPoint,
    });
    const request = { token, email: "a@example.com", language: "FR", businessName: "Librairie" };
    await sender.receipts.sendReceipt(request, { caller: platformCaller });
    expect(await service.exited).toEqual([null, "SIGKILL"]);
    await sender.sql("update receipt_mail set leased_until = now() where payment_id = ?", [id]);
    await using _worker = sender.startReceiptMails();
    const rows = () => sender.sql("select status from receipt_mail where payment_id = ?", [id]);
    await eventually(async () => expect(await rows()).toEqual([{ status: "SENT" }]));
    expect(mails.received).toHaveLength(times);
    expect(new Set(mails.received.map(({ source }) => /^Message-ID: (.*)$/m.exec(source)?.[1])).size).toBe(1);
    // The limit of one e-mail per address and hour still applies after the crash.
    await sender.receipts.sendReceipt(request, { caller: platformCaller });
    expect(await rows()).toHaveLength(1);
  },
);
