import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { StartCheckoutResponse } from "@amana/contracts/payments/v1/checkout_service_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { staticFile } from "@amana/pages";
import type { FastifyReply, FastifyRequest } from "fastify";
import {
  type BuyerErrors,
  type BuyerField,
  type BuyerValues,
  checkForm,
  emptyForm,
  readSubmittedForm,
  type SubmittedForm,
} from "../checkout/buyer-form.ts";
import { Captcha } from "../checkout/captcha.ts";
import { checkoutCall, languageOf, linkNotAvailable, type OpenLink, openLink } from "../checkout/open-link.ts";
import { PaymentCookie } from "../checkout/payment-cookie.ts";
import { cardMarkFiles } from "../config.ts";
import { createErrorPageHandler, headersOf, pathOf, problemOf, setRetryAfter } from "../errors.ts";
import type { App, Gateway } from "../gateway.ts";
import { formPage } from "../pages/checkout/form-page.ts";
import { conditionsVersion, checkoutFiles as files, sendCheckoutPage, type View, viewOf } from "../pages/checkout/layout.ts";
import {
  faultPage,
  inProgressPage,
  linkFullPage,
  linkUnavailablePage,
  linkUnknownPage,
  processorErrorPage,
  rateLimitedPage,
} from "../pages/checkout/message-pages.ts";
import { posterPage } from "../pages/checkout/poster-page.ts";
import { qrCodeSvg } from "../pages/checkout/qr-code.ts";
import { readAnyBodies } from "../plugins/any-bodies.ts";
import { limitCheckout, limitPages } from "../plugins/limit-rate.ts";
import { Problem } from "../problem.ts";
import { checkoutResult } from "./checkout-result.ts";

const formBytesMax = 64 * 1024;
/**
 * Timeout of the RPC that starts a payment. The payments service registers the payment with the
 * processor before it responds.
 */
const startTimeoutMs = 36_000;

/** Form fields, by the JSON pointer of an error from the payments service. */
const fieldOfPointer: Readonly<Record<string, BuyerField>> = {
  "/amount": "amount",
  "/customer_name": "name",
  "/customer_email": "email",
  "/customer_phone": "phone",
  "/conditions": "conditions",
};

/** Serves the pages and QR codes of payment links. Buyers have no API key. */
export async function checkout(app: App, gateway: Gateway): Promise<void> {
  const { hasCaptcha, keys } = gateway.checkout;
  const captcha = hasCaptcha ? new Captcha(keys) : undefined;
  const cookies = new PaymentCookie(keys);
  app.decorateRequest("pageLanguage", null);
  app.addHook("onRequest", limitPages(gateway));
  readAnyBodies(app, gateway);
  app.setErrorHandler(createErrorPageHandler(gateway.logger, sendCheckoutError));
  checkoutResult(app, gateway);
  const visitOf = (request: FastifyRequest, reply: FastifyReply): Visit => ({ gateway, captcha, cookies, request, reply });
  app.get("/:token", (request, reply) => showLink(visitOf(request, reply)));
  app.post("/:token", { bodyLimit: formBytesMax }, (request, reply) => submitForm(visitOf(request, reply)));
  app.get("/:token/poster", async (request, reply) => {
    const opened = await openLink(gateway, request, reply);
    const view = viewOf(languageOf(request), `/pay/${opened.linkToken}/poster`);
    return sendCheckoutPage(reply, view, posterPage(view, opened));
  });
  app.get("/:token/qr.svg", async (request, reply) => {
    const { link } = await openLink(gateway, request, reply);
    return reply.type("image/svg+xml").header("referrer-policy", "no-referrer").send(qrCodeSvg(link.url));
  });
}

/** A request for the page of a payment link, its reply, and the dependencies of the handlers. */
interface Visit {
  readonly gateway: Gateway;
  /** Undefined if the deployment requires no proof of work. */
  readonly captcha: Captcha | undefined;
  readonly cookies: PaymentCookie;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function showLink(visit: Visit): Promise<FastifyReply> {
  const { request, reply } = visit;
  const opened = await open(visit);
  const { isFull, linkToken, checkout: state } = opened;
  const beginAgain = (request.query as { again?: unknown }).again === "1";
  const view = viewOf(languageOf(request), `/pay/${linkToken}${beginAgain ? "?again=1" : ""}`);
  if (isFull) return sendCheckoutPage(reply, view, linkFullPage(view, linkToken, state.payment));
  if (state.payment && !beginAgain) return sendCheckoutPage(reply, view, inProgressPage(view, opened, state.payment));
  const typed = { ...emptyForm(randomBytes(18).toString("base64url")), isRestart: beginAgain };
  return await sendForm(visit, view, opened, typed, {});
}

async function submitForm(visit: Visit): Promise<FastifyReply> {
  const { gateway, captcha, request, reply } = visit;
  const typed = readSubmittedForm(request.body instanceof Uint8Array ? request.body : new Uint8Array());
  if (!typed) throw Problem.of("malformed_request");
  request.pageLanguage = typed.language ?? null;
  const opened = await open(visit);
  const { link, linkToken, checkout: state } = opened;
  const view = viewOf(languageOf(request), `/pay/${linkToken}`);
  const { values, errors } = checkForm(link, typed);
  const isSolved = await captcha?.isSolved(typed.captcha, { linkToken, formToken: typed.formToken });
  if (isSolved === false) errors.captcha = "captcha_missing";
  if (Object.keys(errors).length > 0) return await sendForm(visit, view, opened, typed, errors);
  // If the browser already has a payment in progress at this link and the form has another amount,
  // the buyer must choose between that payment and a new payment.
  const { payment } = state;
  if (payment && !typed.isRestart && values.amountMinor !== undefined && values.amountMinor !== payment.amountMinor) {
    return sendCheckoutPage(reply, view, inProgressPage(view, opened, payment, { isOtherAmount: true }));
  }
  limitCheckout(gateway, link.id, request.ip);
  try {
    return redirect(visit, opened, await start(visit, opened, typed, values));
  } catch (error) {
    return await sendRefusal(visit, view, opened, typed, problemOf(error, request, gateway.logger));
  }
}

function open({ gateway, cookies, request, reply }: Visit): Promise<OpenLink> {
  const { token } = request.params as { token: string };
  return openLink(gateway, request, reply, cookies.read(request.headers.cookie, token));
}

async function sendForm(
  { gateway, captcha, reply }: Visit,
  view: View,
  opened: OpenLink,
  typed: SubmittedForm,
  errors: BuyerErrors,
): Promise<FastifyReply> {
  const challenge = await captcha?.createChallenge({ linkToken: opened.linkToken, formToken: typed.formToken });
  const { cardFormOrigins: formOrigins, cardMarksDir } = gateway.checkout;
  const page = { ...opened, typed, errors, challenge, formOrigins, hasMarkFiles: cardMarksDir !== undefined };
  return sendCheckoutPage(reply, view, formPage(view, page));
}

function start(
  { gateway, cookies, request, reply }: Visit,
  { link, linkToken }: OpenLink,
  { formToken, isRestart }: SubmittedForm,
  values: BuyerValues,
): Promise<StartCheckoutResponse> {
  const paymentToken = cookies.read(request.headers.cookie, linkToken);
  const browser = { formToken, beginAgain: isRestart, ...(paymentToken !== undefined && { paymentToken }) };
  return gateway.rpc.checkout.startCheckout(
    { ...values, ...browser, linkToken, conditionsVersion, language: languageOf(request).toUpperCase() },
    checkoutCall(request, reply, startTimeoutMs, link.businessId),
  );
}

/** Redirects to the card form, or to the result page if the payment is no longer PENDING. */
function redirect(
  { cookies, reply }: Visit,
  { link, linkToken }: OpenLink,
  { payment, paymentToken }: StartCheckoutResponse,
): FastifyReply {
  const formUrl = payment?.status === PaymentStatus.PENDING ? payment.formUrl : undefined;
  return reply
    .header("set-cookie", cookies.write(linkToken, paymentToken, { isSecure: link.url.startsWith("https:") }))
    .header("referrer-policy", "no-referrer")
    .redirect(formUrl ?? `/pay/${linkToken}/result/${paymentToken}`, 303);
}

/** Sends the page for a payment that the payments service refused to start. */
async function sendRefusal(
  visit: Visit,
  view: View,
  opened: OpenLink,
  typed: SubmittedForm,
  problem: Problem,
): Promise<FastifyReply> {
  const { reply } = visit;
  const { linkToken } = opened;
  if (problem.status === 404) throw problem;
  if (problem.code === "payment_link_not_available") throw linkNotAvailable();
  if (problem.code === "payment_link_full") {
    const { checkout: present } = await open(visit);
    return sendCheckoutPage(reply, view, linkFullPage(view, linkToken, present.payment));
  }
  const [invalid] = problem.errors ?? [];
  const field = invalid && "pointer" in invalid ? fieldOfPointer[invalid.pointer] : undefined;
  if (field) return await sendForm(visit, view, opened, typed, { [field]: "field_refused" });
  setRetryAfter(reply, problem);
  return sendCheckoutPage(reply, view, processorErrorPage(view, linkToken, problem.status));
}

/** Serves the style, the scripts, the captcha widget and the card marks of the pages. */
export async function checkoutFiles(app: App, { checkout: { cardMarksDir } }: Gateway): Promise<void> {
  for (const name of cardMarksDir === undefined ? [] : cardMarkFiles) {
    const load = async () => ({ type: "image/svg+xml", content: await readFile(join(cardMarksDir as string, name)) });
    app.get(`/${name}`, staticFile(load));
  }
  for (const [name, load] of Object.entries(files)) app.get(`/${name}`, staticFile(load));
}

/**
 * Sends the error page for a failed request for a payment link: unknown link, unavailable link, too
 * many requests, or another error.
 */
export function sendCheckoutError(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  const { status } = problem;
  const path = pathOf(request, "/pay");
  const view = viewOf(languageOf(request), path);
  if (status === 404) return sendCheckoutPage(reply, view, linkUnknownPage(view));
  if (status === 410) return sendCheckoutPage(reply, view, linkUnavailablePage(view));
  if (status === 429)
    return sendCheckoutPage(reply, view, rateLimitedPage(view, path, Number(headersOf(problem)["retry-after"])));
  return sendCheckoutPage(reply, view, faultPage(view, status));
}
