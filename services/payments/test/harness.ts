import { CheckoutService, type StartCheckoutRequestSchema } from "@amana/contracts/payments/v1/checkout_service_pb";
import { type PaymentEvent, PaymentEventSchema } from "@amana/contracts/payments/v1/payment_events_pb";
import type { PaymentLink as PaymentLinkMessage } from "@amana/contracts/payments/v1/payment_link_pb";
import { PaymentLinkService } from "@amana/contracts/payments/v1/payment_link_service_pb";
import type { Payment as PaymentMessage } from "@amana/contracts/payments/v1/payment_pb";
import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { ReceiptService } from "@amana/contracts/payments/v1/receipt_service_pb";
import { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { createRpcClient, platformCaller, type RpcClient } from "@amana/rpc";
import { allTenants, forTenant, uuidv7 } from "@amana/runtime";
import { startTestService } from "@amana/service-host/testing";
import { aBusinessCaller } from "@amana/testing";
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { Context } from "../src/context.ts";
import { advanceRefunds } from "../src/jobs/advance-refunds.ts";
import { reconcilePayments } from "../src/jobs/reconcile-payments.ts";
import { followUpPayments, rereadPayments } from "../src/jobs/reread-payments.ts";
import { sendReceiptMails } from "../src/jobs/send-receipt-mails.ts";
import { Payment } from "../src/payment/payment.ts";
import { payments } from "../src/service.ts";
import { credentials, startSandbox, type TestCard } from "./sandbox.ts";

const pollMs = 50;

export type Harness = Awaited<ReturnType<typeof startHarness>>;

/**
 * Starts the service with its own database and sandbox, with short schedules and without its jobs.
 */
export async function startHarness(
  options: {
    schedule?: Partial<Context["schedule"]>;
    satimTimeoutMs?: number;
    /** URL of the SMTP server. By default, the service sends no e-mails. */
    smtpUrl?: string;
    numbersAsStrings?: boolean;
    /** A sandbox that the caller disposes. By default, the harness starts its own sandbox. */
    sandbox?: Awaited<ReturnType<typeof startSandbox>>;
    databaseUrl?: string;
    background?: boolean;
  } = {},
) {
  await using stack = new AsyncDisposableStack();
  const sandbox = options.sandbox ?? stack.use(await startSandbox(options.numbersAsStrings ?? false));
  const service = stack.use(
    await startTestService(payments, {
      databaseUrl: options.databaseUrl,
      runsBackgroundWork: options.background ?? false,
      settings: {
        ...paymentsSettings(sandbox.url),
        ...(options.smtpUrl !== undefined && mailSettings(options.smtpUrl)),
        SATIM_TIMEOUT_MS: String(options.satimTimeoutMs ?? 3_000),
      },
      contextOverrides: {
        schedule: {
          paymentCheckSeconds: [60],
          paymentWindowSeconds: 1_230,
          refundCheckSeconds: [0.1, 0.2, 0.5],
          refundResendAfterSeconds: [0.5, 1],
          refundLateEffectSeconds: 1,
          refundDecisionAfterSeconds: 60,
          refundRereadSeconds: [300, 3_600, 86_400],
          expiredRereadSeconds: [300, 3_600, 86_400],
          paymentRereadSeconds: [3_600, 86_400],
          paymentRereadsPerSecond: 20,
          ...options.schedule,
        },
      },
    }),
  );
  const { context, channel, sql } = service;
  const client = createRpcClient(PaymentService, channel);
  const checkoutClient = createRpcClient(CheckoutService, channel);

  const harness = {
    ...service,
    sandbox,
    payments: client,
    links: createRpcClient(PaymentLinkService, channel),
    checkout: checkoutClient,
    refunds: createRpcClient(RefundService, channel),
    receipts: createRpcClient(ReceiptService, channel),
    /** Starts the job that advances unfinished refunds, until disposed. */
    startRefundWorker: () => advanceRefunds(context, pollMs),
    /** Starts the job that settles PENDING payments, until disposed. */
    startReconciler: () => reconcilePayments(context, pollMs),
    /** Starts the job that reads settled payments again, until disposed. */
    startRereads: () => rereadPayments(context, pollMs),
    /** Starts the job that reads refunded and expired payments again, until disposed. */
    startFollowUps: () => followUpPayments(context, pollMs),
    /** Starts the job that sends receipt e-mails, until disposed. */
    startReceiptMails: () => sendReceiptMails(context, pollMs),
    /** Returns the emitted events of a payment in order, each with its trace context. */
    async readEvents(paymentId: string): Promise<(PaymentEvent & { traceparent: string | undefined })[]> {
      const rows = await sql<{ payload: Buffer; headers: Record<string, string> }>(
        "select payload, headers from outbox where topic = 'payments.v1' and key = ? order by id",
        [paymentId],
      );
      return rows.map(({ payload, headers }) => ({
        ...fromBinary(PaymentEventSchema, payload),
        traceparent: headers["traceparent"],
      }));
    },
    /** Returns the stored entity of a payment. */
    stored: (id: string): Promise<Payment> => forTenant(allTenants, () => context.orm.em.fork().findOneOrFail(Payment, { id })),
    async readReturnToken(paymentId: string): Promise<string> {
      const [row] = await sql<{ return_token: string }>("select return_token from payment where id = ?", [paymentId]);
      return row?.return_token ?? "";
    },
    /**
     * Simulates that the card holder's browser returns from the processor. Returns the redirect
     * URL.
     */
    async returnFromProcessor(paymentId: string, timeoutMs = 90_000): Promise<URL> {
      const token = await harness.readReturnToken(paymentId);
      const { redirectUrl } = await client.returnFromProcessor({ token }, { caller: platformCaller, timeoutMs });
      return new URL(redirectUrl);
    },
    /** Returns how many calls of an operation the sandbox received for a payment's order. */
    async countCalls(payment: PaymentMessage, operation: string): Promise<number> {
      const { calls } = await sandbox.byNumber(payment.processorOrderNumber);
      return calls.filter((call) => call.operation === operation).length;
    },
    /** Creates a payment whose card holder has not paid yet. */
    async aPendingPayment(caller = aBusinessCaller(), changes: Partial<typeof aPaymentRequest> = {}): Promise<PaymentMessage> {
      return await client.createPayment({ ...aPaymentRequest, ...changes }, { caller, timeoutMs: 20_000 });
    },
    /** Creates a payment whose card holder has paid or tried to pay, and has returned. */
    async aFinishedPayment(caller = aBusinessCaller(), card?: TestCard, changes = {}): Promise<PaymentMessage> {
      const { id, processorOrderId } = await harness.aPendingPayment(caller, changes);
      await sandbox.pay(processorOrderId, card);
      await harness.returnFromProcessor(id);
      return await client.getPayment({ id }, { caller });
    },
    async aPaymentLink(caller = aBusinessCaller(), changes: object = {}): Promise<PaymentLinkMessage> {
      return await harness.links.createPaymentLink({ ...aPaymentLinkRequest, ...changes }, { caller });
    },
    /** Starts a payment for a link as the gateway does. By default, the form token is new. */
    startCheckout: (link: PaymentLinkMessage, changes: MessageInitShape<typeof StartCheckoutRequestSchema> = {}) =>
      startCheckout(checkoutClient, link, changes),
    /** Starts a payment for a link, pays the order and returns from the processor. */
    async aPaidCheckout(link: PaymentLinkMessage, card?: TestCard): Promise<PaymentMessage> {
      const { payment } = await harness.startCheckout(link);
      await sandbox.pay(payment?.processorOrderId, card);
      await harness.returnFromProcessor(payment?.id ?? "");
      return await client.getPayment({ id: payment?.id ?? "" }, { caller: aBusinessCaller(link.businessId) });
    },
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  };
  const disposables = stack.move();
  return harness;
}

/**
 * Returns the settings that only the payments service has. The sandbox at `sandboxUrl` is the
 * processor.
 */
export const paymentsSettings = (sandboxUrl: string) => ({
  PUBLIC_URL: "http://gateway.test",
  SATIM_URL: `${sandboxUrl}/payment/rest`,
  SATIM_USERNAME: credentials.userName,
  SATIM_PASSWORD: credentials.password,
  SATIM_TERMINAL_ID: "E010101010",
  SATIM_FORM_URL_TEMPLATE: `${sandboxUrl}/payment/pay/{mdOrder}`,
  SATIM_CONNECT_TIMEOUT_MS: "3000",
});

/**
 * Returns the settings for e-mails. The timeout is short, but sufficient for an accepted e-mail
 * even on a busy machine.
 */
export const mailSettings = (smtpUrl: string) => ({
  SMTP_URL: smtpUrl,
  MAIL_FROM: "Amana <receipts@amana.test>",
  SMTP_TIMEOUT_MS: "10000",
});

/** Lease object for functions that a test calls without holding a lease. */
export const noLease = { token: "", release() {} };

/** A valid request for a payment. */
export const aPaymentRequest = {
  amountMinor: 500_000n,
  successUrl: "https://shop.test/thanks",
  failUrl: "https://shop.test/sorry",
  language: "FR",
  orderRef: "basket-7",
  description: "Two tickets",
};

/** A valid request for a payment link with a fixed amount. */
export const aPaymentLinkRequest = { name: "Two tickets", amountMinor: 500_000n, language: "FR" };

/** Returns the fields of a payment that its events contain. */
export function eventFieldsOf(payment: PaymentMessage): Partial<PaymentMessage> {
  const { successUrl, failUrl, formUrl, receiptUrl, description, ...rest } = payment;
  const { customerName, customerEmail, customerPhone, ...fields } = rest;
  return fields;
}

/** Returns the token of a link from the URL of its page. */
export const linkTokenOf = ({ url }: { readonly url: string }): string => url.slice(url.lastIndexOf("/") + 1);

/** Starts a payment for a link with the given client. By default, the form token is new. */
export const startCheckout = (
  client: RpcClient<typeof CheckoutService>,
  link: PaymentLinkMessage,
  changes: MessageInitShape<typeof StartCheckoutRequestSchema> = {},
) =>
  client.startCheckout(
    { linkToken: linkTokenOf(link), formToken: uuidv7(), language: "FR", conditionsVersion: "2026-01", ...changes },
    { caller: platformCaller, timeoutMs: 20_000 },
  );
