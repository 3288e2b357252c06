import { request } from "undici";
import { control } from "./at-the-sandbox.ts";
import type { Cast } from "./cast.ts";
import { payInBrowser } from "./in-browser.ts";
import { listen } from "./listen.ts";
import type { Story } from "./story.ts";

const card = { pan: "6280581110007215", expiry: "01/2027", cvv2: "373", password: "123456" };

/** A card payment, its refund, and the webhooks of both. */
export async function payAndRefund(story: Story, cast: Cast, options: { inBrowser: boolean }): Promise<void> {
  const { step, say, expect, expectAnswer, expectRefusal } = story;
  const { business } = cast;

  step("It creates a payment of 5000.00 DZD.");
  await using shop = await listen((_request, response) => response.end("Merci."));
  const order = {
    amount: "5000.00",
    success_url: `${shop.url}/merci?panier=7`,
    fail_url: `${shop.url}/desole`,
    order_ref: "commande-1",
  };
  const key = { idempotencyKey: `demo-create-${Date.now()}` };
  const created = await business.payments.create(order, key);
  expectAnswer(created, { status: "PENDING" }, "the payment is PENDING and has a form for the card holder");
  const paymentId = created.id;
  const again = await business.payments.create(order, key);
  expectAnswer(again, { id: paymentId }, "sending it again with the same Idempotency-Key gives the same payment");
  const formUrl = String(created.form_url);

  step(
    options.inBrowser
      ? "The card holder pays on the hosted page, in a browser."
      : "The card holder pays (by the sandbox's control call; --browser uses the page).",
  );
  say(`   ${formUrl}`);
  const landedAt = options.inBrowser
    ? await payInBrowser(formUrl, shop.url, card)
    : await payByControlCall(cast.sandboxUrl, formUrl);
  const landed = new URL(landedAt);
  expect(
    landed.pathname === "/merci" &&
      landed.searchParams.get("panier") === "7" &&
      landed.searchParams.get("payment_id") === paymentId &&
      landed.searchParams.get("status") === "PAID",
    "the browser is back at the shop's success page, with payment_id and status added",
  );
  const paid = await business.payments.get(paymentId);
  const paidWith = `${paid.masked_pan} (${paid.card_brand})`;
  expectAnswer(paid, { status: "PAID" }, `the payment is PAID, card ${paidWith}`);
  const completed = await cast.expectWebhook("PAYMENT_COMPLETED", paymentId);
  expect(completed.body["status"] === "PAID", "it says PAID");

  step("The business refunds it.");
  const refunded = await business.payments.refund(paymentId);
  const refundedAtMs = performance.now();
  const givenBack = { status: "REFUNDED", refunded_amount: "5000.00" } as const;
  expectAnswer(refunded, givenBack, "the payment is REFUNDED, 5000.00 given back");
  const notAgain = "a second refund is refused with 409 payment_not_refundable";
  await expectRefusal(business.payments.refund(paymentId), 409, "payment_not_refundable", notAgain);

  step("The signed PAYMENT_REFUNDED arrives.");
  const webhook = await cast.expectWebhook("PAYMENT_REFUNDED", paymentId);
  expect(webhook.body["status"] === "REFUNDED", "it says REFUNDED");
  say(`   ${JSON.stringify(webhook.body)}`);
  say(`   ${Math.max(0, webhook.receivedAtMs - refundedAtMs).toFixed(0)} ms after the refund's answer`);
  const log = await business.events.get(String(webhook.body["id"]));
  expectAnswer(log, { type: "PAYMENT_REFUNDED" }, "the event is in the business's log");
}

/** What the card holder does on the page, in one call; then to the shop, as the browser goes. */
async function payByControlCall(sandboxUrl: string, formUrl: string): Promise<string> {
  const orderId = new URL(formUrl).pathname.split("/").at(-1);
  const { redirect_url } = await control<{ redirect_url: string }>(sandboxUrl, "POST", `payments/${orderId}/pay`, card);
  const back = await request(redirect_url, { headersTimeout: 40_000 });
  await back.body.dump();
  if (back.statusCode !== 303) throw new Error(`The return address answered ${back.statusCode}, not 303.`);
  return String(back.headers["location"]);
}
