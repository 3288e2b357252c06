import { Buyer } from "../buyer.ts";
import { eventually } from "../eventually.ts";
import { payLinkInBrowser } from "./in-browser.ts";
import type { Participants } from "./participants.ts";
import type { Reporter } from "./reporter.ts";
import { payByControlCall } from "./sandbox-control.ts";

const email = "acheteur@example.dz";

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Creates a payment link, pays it as a buyer, requests the receipt by e-mail, and reads the
 * statement.
 */
export async function sellByLink(
  reporter: Reporter,
  participants: Participants,
  { inBrowser }: { readonly inBrowser: boolean },
): Promise<void> {
  const { step, print, expect, expectFields } = reporter;
  const { business, sandboxUrl } = participants;

  step("The business creates a payment link for one sale.");
  const from = new Date().toISOString();
  const link = await business.paymentLinks.create({
    name: "Cours d'arabe",
    amount: "2500.00",
    order_ref: "cours-1",
    customer_fields: { email: "REQUIRED" },
    max_payments: 1,
  });
  expectFields(link, { status: "ACTIVE", payments_paid: 0 }, "the link is ACTIVE and has a page for buyers");
  print(`   ${link.url}`);

  step(
    inBrowser
      ? "A buyer opens the page and pays, in a browser."
      : "A buyer opens the page and pays (without a browser; --browser uses one).",
  );
  const resultText = inBrowser ? await payLinkInBrowser(link.url, email) : await payWithoutBrowser(sandboxUrl, link.url);
  expect(resultText.includes("3020"), "the result page shows the receipt with the help line for card payments (3020)");
  const { items } = await business.payments.list({ payment_link_id: link.id }).page();
  const [payment] = items;
  const paidText = "the business finds the PAID payment by the link, with the e-mail address of the buyer";
  expect(items.length === 1 && payment?.status === "PAID" && payment.customer_email === email, paidText, JSON.stringify(items));
  await participants.expectWebhook("PAYMENT_COMPLETED", String(payment?.id));
  const completed = await business.paymentLinks.get(link.id);
  const totalText = "the link is COMPLETED, with amount_paid 2500.00";
  expectFields(completed, { status: "COMPLETED", payments_paid: 1, amount_paid: "2500.00" }, totalText);
  const nextPage = await new Buyer(link.url).open();
  expect(nextPage.status === 410, "the page returns status 410 to the next buyer, because the link is not available");

  step("The buyer requests the receipt by e-mail.");
  const receiptUrl = String(payment?.receipt_url);
  const requested = await fetch(`${receiptUrl}/email`, { method: "POST", body: new URLSearchParams({ email }) });
  expect(requested.status === 202, "the request for the e-mail is accepted");
  const mail = await eventually(async () => {
    const mails = (await (await fetch(`${sandboxUrl}/mail.json`)).json()) as Mail[];
    const received = mails.find(({ to, text }) => to === email && text.includes(receiptUrl));
    if (!received) throw new Error("The sandbox received no e-mail with the receipt.");
    return received;
  }, 30_000);
  expect(true, `the e-mail arrived: ${mail.subject} (${sandboxUrl}/mail)`);

  step("The business reads its payment statement.");
  const lines = await eventually(async () => {
    const statement = await participants.readStatement(from);
    if (!statement.some(({ payment_id }) => payment_id === payment?.id))
      throw new Error("The statement has no line of the payment.");
    return statement;
  }, 15_000);
  const line = lines.find(({ payment_id }) => payment_id === payment?.id);
  expect(
    line?.["amount"] === "2500.00" && line["payment_link_id"] === link.id,
    "the statement has the payment, with its link and amount",
  );
  const centimes = lines.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0);
  const total = (centimes / 100).toFixed(2);
  expect(lines.at(-1)?.["running_total"] === total, `the running total of the statement is the sum of its lines: ${total}`);
}

async function payWithoutBrowser(sandboxUrl: string, url: string): Promise<string> {
  const buyer = new Buyer(url);
  const started = await buyer.submit(await buyer.open(), { email });
  if (started.location === undefined) throw new Error(`The page did not start a payment: ${started.status}`);
  const result = await buyer.read(await payByControlCall(sandboxUrl, started.location));
  return result.html;
}
