import { payInBrowser } from "./in-browser.ts";
import { listen } from "./listen.ts";
import type { Participants } from "./participants.ts";
import type { Reporter } from "./reporter.ts";
import { payByControlCall } from "./sandbox-control.ts";

/** Makes a card payment, refunds it, and waits for the webhooks of both. */
export async function payAndRefund(
  reporter: Reporter,
  participants: Participants,
  options: { inBrowser: boolean },
): Promise<void> {
  const { step, print, expect, expectFields, expectProblem } = reporter;
  const { business } = participants;

  step("The business creates a payment of 5000.00 DZD.");
  await using shop = await listen((_request, response) => response.end("Merci."));
  const order = {
    amount: "5000.00",
    success_url: `${shop.url}/merci?panier=7`,
    fail_url: `${shop.url}/desole`,
    order_ref: "commande-1",
  };
  const key = { idempotencyKey: `demo-create-${Date.now()}` };
  const created = await business.payments.create(order, key);
  expectFields(created, { status: "PENDING" }, "the payment is PENDING and has a form for the card holder");
  const paymentId = created.id;
  const repeated = await business.payments.create(order, key);
  expectFields(repeated, { id: paymentId }, "the same request with the same Idempotency-Key returns the same payment");
  const formUrl = String(created.form_url);

  step(
    options.inBrowser
      ? "The card holder pays on the hosted page, in a browser."
      : "The card holder pays (simulated by the sandbox; --browser uses the hosted page).",
  );
  print(`   ${formUrl}`);
  const returnAddress = options.inBrowser
    ? await payInBrowser(formUrl, shop.url)
    : await payByControlCall(participants.sandboxUrl, formUrl);
  const returnUrl = new URL(returnAddress);
  expect(
    returnUrl.pathname === "/merci" &&
      returnUrl.searchParams.get("panier") === "7" &&
      returnUrl.searchParams.get("payment_id") === paymentId &&
      returnUrl.searchParams.get("status") === "PAID",
    "the browser returns to the shop's success page with payment_id and status",
  );
  const paid = await business.payments.get(paymentId);
  const paidWith = `${paid.masked_pan} (${paid.card_brand})`;
  expectFields(paid, { status: "PAID" }, `the payment is PAID, card ${paidWith}`);
  const completed = await participants.expectWebhook("PAYMENT_COMPLETED", paymentId);
  expect(completed.body["status"] === "PAID", "the webhook contains the status PAID");

  step("The business refunds the payment.");
  const refunded = await business.payments.refund(paymentId);
  const refundedAtMs = performance.now();
  const refundedFields = { status: "REFUNDED", refunded_amount: "5000.00" } as const;
  expectFields(refunded, refundedFields, "the payment is REFUNDED, with refunded_amount 5000.00");
  const secondRefundText = "a second refund returns 409 payment_not_refundable";
  await expectProblem(business.payments.refund(paymentId), 409, "payment_not_refundable", secondRefundText);

  step("The business receives the signed webhook PAYMENT_REFUNDED.");
  const webhook = await participants.expectWebhook("PAYMENT_REFUNDED", paymentId);
  expect(webhook.body["status"] === "REFUNDED", "the webhook contains the status REFUNDED");
  print(`   ${JSON.stringify(webhook.body)}`);
  print(`   ${Math.max(0, webhook.receivedAtMs - refundedAtMs).toFixed(0)} ms after the response to the refund request`);
  const loggedEvent = await business.events.get(String(webhook.body["id"]));
  expectFields(loggedEvent, { type: "PAYMENT_REFUNDED" }, "the event is in the event log of the business");
}
