import type { CheckoutService, StartCheckoutRequest } from "@amana/contracts/payments/v1/checkout_service_pb";
import { databaseTime, lockRow, preparedQuery } from "@amana/database";
import { type Call, type Implementation, requirePlatform } from "@amana/rpc";
import { forTenant, sleep } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { inPaymentTransaction, insertPayment, newReturnToken, registerPayment } from "../payment/begin-payment.ts";
import { idByPageTokenSql, pageTokenOf, pageTokenPattern } from "../payment/page-token.ts";
import { processorError, processorOutcomeUnknown } from "../payment/payment.errors.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { checkoutNotFound, fieldInvalid, paymentLinkFull, paymentLinkNotAvailable } from "../payment-link/payment-link.errors.ts";
import { isLinkFull, linkTokenPattern, PaymentLink } from "../payment-link/payment-link.ts";

/** Part of the deadline that is reserved for the response. */
const responseMs = 1_000;
/** Pause between two reads of a payment that another request registers. */
const waitMs = 100;
const languages: readonly string[] = ["AR", "FR", "EN"];
const textForm = /^[^\0]{1,200}$/;

/**
 * Starts a payment for a payment link. One transaction locks the link's row, checks the link and
 * its free slots, and inserts the payment. `registerPayment` then calls the processor outside of
 * any transaction. Returns an existing payment for a repeated form token, and for a browser that
 * already has a payment in progress.
 */
export const startCheckout =
  (context: Context): Implementation<typeof CheckoutService.method.startCheckout> =>
  async (request, call) => {
    requirePlatform(call.caller);
    const found = await findLink(context, request.linkToken);
    if (!found) throw checkoutNotFound();
    checkTexts(request);
    const payment = await forTenant(found.businessId, async () => {
      const started = await inPaymentTransaction(context, async (em) => {
        const link = await lockRow(em, PaymentLink, found.businessId, found.id, checkoutNotFound);
        const now = await databaseTime(em);
        const existing = await findStarted(em, context, link, request, now);
        return existing ? { existing } : { inserted: await insertLinkPayment(em, context, call, link, request, now) };
      });
      if (started.inserted) return await registerPayment(context, call, started.inserted, undefined);
      return await waitForRegistration(context, call, started.existing);
    });
    return { payment: toPaymentMessage(payment, context), paymentToken: pageTokenOf(payment.returnToken) };
  };

async function findLink({ orm }: Context, token: string): Promise<{ id: string; businessId: string } | undefined> {
  if (!linkTokenPattern.test(token)) return undefined;
  const text = `select id, business_id as "businessId" from payment_link where token = $1`;
  const [link] = await preparedQuery<{ id: string; businessId: string }>(orm.em, text, [token]);
  return link;
}

/** Validates the fields that the checkout page sends without input from the buyer. */
function checkTexts({ formToken, language, conditionsVersion }: StartCheckoutRequest): void {
  if (!textForm.test(formToken)) throw fieldInvalid("/form_token", "The form has expired. Open the page again.");
  if (!languages.includes(language)) throw fieldInvalid("/language", "language must be AR, FR or EN.");
  if (!textForm.test(conditionsVersion)) throw fieldInvalid("/conditions", "The conditions of sale must be accepted.");
}

/**
 * Returns the payment that an earlier request with the same form token started. Otherwise returns
 * the payment of the page token, which the browser sends. Returns undefined if that payment's time
 * to pay is over, or if the buyer chose a new payment.
 */
async function findStarted(
  em: SqlEntityManager,
  { schedule }: Context,
  { businessId, id: paymentLinkId }: PaymentLink,
  { formToken, paymentToken = "", beginAgain }: StartCheckoutRequest,
  now: Date,
): Promise<Payment | undefined> {
  const ofForm = await em.findOne(Payment, { businessId, paymentLinkId, formToken });
  if (ofForm) return ofForm;
  if (beginAgain || !pageTokenPattern.test(paymentToken)) return undefined;
  const [found] = await em.execute<{ id: string }[]>(`${idByPageTokenSql("?")} and payment_link_id = ? and status = 'PENDING'`, [
    paymentToken,
    paymentLinkId,
  ]);
  const ofBrowser = found && (await em.findOne(Payment, { businessId, id: found.id }));
  return ofBrowser && !ofBrowser.isWindowOver(schedule.paymentWindowSeconds, now) ? ofBrowser : undefined;
}

/**
 * Inserts a payment for a link. Throws if the link is not ACTIVE or has no free slot. The caller
 * must have locked the link's row.
 */
async function insertLinkPayment(
  em: SqlEntityManager,
  context: Context,
  call: Call,
  link: PaymentLink,
  request: StartCheckoutRequest,
  now: Date,
): Promise<Payment> {
  if (link.statusAt(now) !== "ACTIVE") throw paymentLinkNotAvailable();
  const amountMinor = link.amountOf(request.amountMinor);
  const { customerName = null, customerEmail = null, customerPhone = null } = link.buyerOf(request);
  if (link.maxPayments != null && isLinkFull(link, await countPending(em, context, link, now))) throw paymentLinkFull();
  const returnToken = newReturnToken();
  const resultUrl = `${context.publicUrl}/pay/${link.token}/result/${pageTokenOf(returnToken)}`;
  const fields = {
    businessId: link.businessId,
    amountMinor,
    currency: link.currency,
    language: request.language,
    successUrl: resultUrl,
    failUrl: resultUrl,
    description: link.name,
    orderRef: link.orderRef ?? null,
    returnToken,
    paymentLinkId: link.id,
    linkMetadata: link.metadata,
    formToken: request.formToken,
    customerName,
    customerEmail,
    customerPhone,
    conditionsVersion: request.conditionsVersion,
    conditionsAcceptedAt: now,
  };
  return await insertPayment(em, context, call, fields, now);
}

/** Returns the number of PENDING payments whose card holder still has time to pay. */
async function countPending(em: SqlEntityManager, { schedule }: Context, link: PaymentLink, now: Date): Promise<number> {
  const createdAfter = new Date(now.getTime() - schedule.paymentWindowSeconds * 1000);
  const { businessId, id: paymentLinkId } = link;
  // A prepared statement with the status as a parameter could not use the index of PENDING
  // payments.
  const [row] = await em.execute<{ count: number }[]>(
    `select count(*)::int as count from payment
     where business_id = ? and payment_link_id = ? and status = 'PENDING' and created_at > ?`,
    [businessId, paymentLinkId, createdAfter],
  );
  return row?.count ?? 0;
}

/**
 * Waits until another request or the reconciler has registered the payment, and returns it. Throws
 * the refusals of CreatePayment if the registration failed or its outcome stays unknown.
 */
async function waitForRegistration(context: Context, call: Call, payment: Payment): Promise<Payment> {
  let present = payment;
  while (present.awaitsRegistration() && call.remainingMs() > responseMs + waitMs) {
    await sleep(waitMs);
    present = await context.orm.em.fork().findOneOrFail(Payment, { businessId: payment.businessId, id: payment.id });
  }
  if (present.awaitsRegistration()) throw processorOutcomeUnknown(present.id);
  if (present.status === "FAILED") throw processorError(present.processorErrorCode ?? "", present.id);
  return present;
}
