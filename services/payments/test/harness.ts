import { type PaymentEvent, PaymentEventSchema } from "@amana/contracts/payments/v1/payment_events_pb";
import type { Payment as PaymentMessage } from "@amana/contracts/payments/v1/payment_pb";
import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { createRpcClient, platformCaller } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { aBusinessCaller, createTestDatabase, startTestServer } from "@amana/testing";
import { fromBinary } from "@bufbuild/protobuf";
import { createSatim } from "../src/card-processor/satim.ts";
import type { Context } from "../src/context.ts";
import { reconcilePayments } from "../src/jobs/reconcile-payments.ts";
import { rereadPayments } from "../src/jobs/reread-payments.ts";
import { resolveRefunds } from "../src/jobs/resolve-refunds.ts";
import { database } from "../src/orm.ts";
import { rpcServices } from "../src/rpc/index.ts";
import { credentials, startSandbox, type TestCard } from "./sandbox.ts";

const pollMs = 50;

export type Harness = Awaited<ReturnType<typeof startHarness>>;

/** The service on a database and a sandbox of its own, over real RPC. Schedules are short; jobs run when started. */
export async function startHarness(
  options: { schedule?: Partial<Context["schedule"]>; satimTimeoutMs?: number; numbersAsStrings?: boolean } = {},
) {
  await using stack = new AsyncDisposableStack();
  const logger = createLogger("test", process.env["TEST_LOG_LEVEL"] ?? "silent");
  const { orm } = stack.use(await createTestDatabase("payments", database));
  const sandbox = stack.use(await startSandbox(options.numbersAsStrings ?? false));
  const processor = stack.use(
    createSatim({
      url: `${sandbox.url}/payment/rest`,
      ...credentials,
      terminalId: "E010101010",
      timeoutMs: options.satimTimeoutMs ?? 3_000,
      connectTimeoutMs: 3_000,
    }),
  );
  const context: Context = {
    orm,
    processor,
    logger,
    schedule: {
      paymentCheckSeconds: [60],
      paymentWindowSeconds: 1_230,
      refundCheckSeconds: [0.1, 0.2, 0.5],
      refundResendAfterSeconds: [0.5, 1],
      refundLateEffectSeconds: 1,
      refundDecisionAfterSeconds: 60,
      refundRereadSeconds: [300, 3_600, 86_400],
      paymentRereadSeconds: [3_600, 86_400],
      paymentRereadsPerSecond: 20,
      ...options.schedule,
    },
    publicUrl: "http://gateway.test",
    formUrlTemplate: `${sandbox.url}/payment/pay/{mdOrder}`,
  };
  const { channel } = stack.use(await startTestServer(rpcServices(context)));
  const payments = createRpcClient(PaymentService, channel);
  const refunds = createRpcClient(RefundService, channel);

  const sql = async <Row = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> =>
    await orm.em.fork().execute<Row[]>(text, values);

  const harness = {
    context,
    sandbox,
    payments,
    refunds,
    sql,
    /** The worker that finishes refunds, until disposed. */
    resolving: () => resolveRefunds(context, pollMs),
    /** The worker that finishes payments, until disposed. */
    reconciling: () => reconcilePayments(context, pollMs),
    /** The worker that reads settled payments again, until disposed. */
    rereading: () => rereadPayments(context, pollMs),
    /** What was announced of a payment, in order, with the trace it belongs to. */
    async events(paymentId: string): Promise<(PaymentEvent & { traceparent: string | undefined })[]> {
      const rows = await sql<{ payload: Buffer; headers: Record<string, string> }>(
        "select payload, headers from outbox where topic = 'payments.v1' and key = ? order by id",
        [paymentId],
      );
      return rows.map(({ payload, headers }) => ({
        ...fromBinary(PaymentEventSchema, payload),
        traceparent: headers["traceparent"],
      }));
    },
    async returnToken(paymentId: string): Promise<string> {
      const [row] = await sql<{ return_token: string }>("select return_token from payment where id = ?", [paymentId]);
      return row?.return_token ?? "";
    },
    /** The card holder's browser comes back; answers where it is sent. */
    async comesBack(paymentId: string, timeoutMs = 20_000): Promise<URL> {
      const token = await harness.returnToken(paymentId);
      const { redirectUrl } = await payments.returnFromProcessor({ token }, { caller: platformCaller, timeoutMs });
      return new URL(redirectUrl);
    },
    /** How often the processor was asked to do something about a payment. */
    async calls(payment: PaymentMessage, operation: string): Promise<number> {
      const { calls } = await sandbox.byNumber(payment.processorOrderNumber);
      return calls.filter((call) => call.operation === operation).length;
    },
    /** A payment at the processor that waits for its card holder. */
    async aPendingPayment(caller = aBusinessCaller(), changes: Partial<typeof aPaymentRequest> = {}): Promise<PaymentMessage> {
      return await payments.createPayment({ ...aPaymentRequest, ...changes }, { caller, timeoutMs: 20_000 });
    },
    /** A payment whose card holder paid, or tried to, and came back. */
    async aFinishedPayment(caller = aBusinessCaller(), card?: TestCard, changes = {}): Promise<PaymentMessage> {
      const { id, processorOrderId } = await harness.aPendingPayment(caller, changes);
      await sandbox.pay(processorOrderId, card);
      await harness.comesBack(id);
      return await payments.getPayment({ id }, { caller });
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
  const running = stack.move();
  return harness;
}

/** A request for a payment that nothing is wrong with. */
export const aPaymentRequest = {
  amountMinor: 500_000n,
  successUrl: "https://shop.test/thanks",
  failUrl: "https://shop.test/sorry",
  language: "FR",
  orderRef: "basket-7",
  description: "Two tickets",
};
