import { FairSemaphore, faultPoint, readText, withCallMetrics } from "@amana/runtime";
import { Agent, request } from "undici";
import { processorCalls } from "../metrics.ts";
import type { CardProcessor, OrderToRegister, Outcome, RegisteredOrder } from "./card-processor.ts";
import { postOnce } from "./post-once.ts";
import { parseResponse, readField, readOrderState } from "./satim-response.ts";

interface SatimOptions {
  /** Base URL, without "/register.do". */
  readonly url: string;
  readonly userName: string;
  readonly password: string;
  readonly terminalId: string;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
}

const responseBytesMax = 256 * 1024;
/**
 * Maximum numbers of concurrent calls. Each kind of call has its own slots, so it does not delay
 * calls of another kind.
 */
const registrationsMax = 16;
const readsMax = 32;
const refundsMax = 32;
/**
 * Maximum number of queued calls of one kind for one business. More calls would time out in the
 * queue.
 */
const queuedMax = 32;
/**
 * Error code of an internal fault of the processor. A refund with this response may have been
 * executed.
 */
const systemErrorCode = "7";

/**
 * Client of SATIM's e-commerce gateway over HTTPS. Parameters are sent as a form in a POST, so that
 * URLs contain no credentials. Without a readable JSON response the outcome is "unknown". No call
 * is retried.
 */
export function createSatim(options: SatimOptions): CardProcessor & AsyncDisposable {
  // Each business can use at most half of the slots.
  const createSlots = (slots: number) => new FairSemaphore({ slots, perTenant: slots / 2 });
  const createPool = (connections: number) => ({
    agent: new Agent({ connect: { timeout: options.connectTimeoutMs }, connections, keepAliveTimeout: 20_000 }),
    slots: createSlots(connections),
  });
  const registrations = createPool(registrationsMax);
  const reads = createPool(readsMax);
  const refundSlots = createSlots(refundsMax);

  const encodeForm = (parameters: Record<string, string>) =>
    new URLSearchParams({ userName: options.userName, password: options.password, ...parameters }).toString();
  // Timers accept only whole milliseconds, and the remaining time of a deadline has fractions.
  const limitToTimeout = (timeoutMs: number) => Math.max(1, Math.floor(Math.min(timeoutMs, options.timeoutMs)));

  const sendPost = async (
    { agent, slots }: ReturnType<typeof createPool>,
    businessId: string,
    path: string,
    parameters: Record<string, string>,
    timeoutMs: number,
  ): Promise<Response> => {
    const operation = path.split(".")[0];
    const waitMs = limitToTimeout(timeoutMs);
    const signal = AbortSignal.timeout(waitMs);
    try {
      return await slots.run(businessId, waitMs, async () => {
        const response = await request(`${options.url}/${path}`, {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
          body: encodeForm(parameters),
          dispatcher: agent,
          signal,
        });
        faultPoint(`${operation}.answering`);
        return parseResponse(response.statusCode, await readText(response.body, responseBytesMax));
      });
    } catch (error) {
      return { kind: "unknown", reason: String(error) };
    }
  };

  return measureCalls({
    async register(order, timeoutMs) {
      const parameters = buildRegistration(order, options.terminalId);
      return readRegistration(await sendPost(registrations, order.businessId, "register.do", parameters, timeoutMs));
    },

    async confirm({ businessId, orderId, language }, timeoutMs) {
      const parameters = { mdOrder: orderId, language };
      return readOrderState(await sendPost(reads, businessId, "public/acknowledgeTransaction.do", parameters, timeoutMs));
    },

    async status({ businessId, ...order }, timeoutMs) {
      return readOrderState(await sendPost(reads, businessId, "getOrderStatusExtended.do", order, timeoutMs));
    },

    async refund({ businessId, orderId, amountMinor }, timeoutMs, commit) {
      const waitMs = limitToTimeout(timeoutMs);
      const signal = AbortSignal.timeout(waitMs);
      const result = await refundSlots
        .run(businessId, waitMs, () =>
          postOnce(new URL(`${options.url}/refund.do`), encodeForm({ orderId, amount: amountMinor.toString() }), {
            connectTimeoutMs: options.connectTimeoutMs,
            signal,
            commit,
            onResponse: () => faultPoint("refund.answering"),
            readBody: (response) => readText(response, responseBytesMax),
          }),
        )
        // `run` rejects if no slot becomes free in time.
        .catch((error: unknown) => ({ kind: "not_sent" as const, reason: String(error) }));
      return result.kind === "responded" ? readRefund(parseResponse(result.statusCode, result.text)) : result;
    },

    isQueueFull: (businessId, kind) => (kind === "reads" ? reads : registrations).slots.queuedCount(businessId) >= queuedMax,

    async [Symbol.asyncDispose]() {
      await Promise.all([registrations.agent.close(), reads.agent.close()]);
    },
  });
}

const callMetrics = { durations: processorCalls, to: "card processor" };

/** Returns a processor that measures the duration and outcome of each call. */
const measureCalls = <P extends CardProcessor>(processor: P): P => ({
  ...processor,
  register: withCallMetrics(callMetrics, "register", processor.register),
  confirm: withCallMetrics(callMetrics, "confirm", processor.confirm),
  status: withCallMetrics(callMetrics, "status", processor.status),
  refund: withCallMetrics(callMetrics, "refund", processor.refund),
});

type Response = Outcome<Record<string, unknown>>;

const buildRegistration = (order: OrderToRegister, terminalId: string) => ({
  orderNumber: order.orderNumber,
  amount: order.amountMinor.toString(),
  currency: "012",
  returnUrl: order.returnUrl,
  failUrl: order.returnUrl,
  language: order.language,
  ...(order.description == null ? {} : { description: order.description }),
  jsonParams: JSON.stringify({
    force_terminal_id: terminalId,
    ...(order.orderRef == null ? {} : { udf1: order.orderRef }),
  }),
});

function readRegistration(response: Response): Outcome<RegisteredOrder> {
  if (response.kind !== "accepted") return response;
  const errorCode = readField(response.value, "errorCode") ?? "0";
  if (errorCode !== "0") return { kind: "refused", errorCode, message: readField(response.value, "errorMessage") ?? "" };
  const orderId = readField(response.value, "orderId");
  const formUrl = readField(response.value, "formUrl");
  if (!orderId || !formUrl) return { kind: "unknown", reason: "the response has no order id or form URL" };
  return { kind: "accepted", value: { orderId, formUrl } };
}

function readRefund(response: Response): Outcome<null> {
  if (response.kind !== "accepted") return response;
  const errorCode = readField(response.value, "errorCode");
  if (errorCode === undefined) return { kind: "unknown", reason: "the response has no error code" };
  if (errorCode === "0") return { kind: "accepted", value: null };
  const message = readField(response.value, "errorMessage") ?? "";
  if (errorCode === systemErrorCode) return { kind: "unknown", reason: `code ${errorCode}: ${message}` };
  return { kind: "refused", errorCode, message };
}
