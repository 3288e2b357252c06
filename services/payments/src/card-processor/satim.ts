import { FairSemaphore, faultPoint, readText, withCallMetrics } from "@amana/runtime";
import { processorCalls } from "../metrics.ts";
import type { CardProcessor, OrderToRegister, Outcome, RegisteredOrder } from "./card-processor.ts";
import { createConnections } from "./connections.ts";
import { parseResponse, readConfirmedOrder, readField, readOrderState } from "./satim-response.ts";

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
 * Maximum numbers of concurrent calls. Each kind of call has its own slots, so calls of one kind do
 * not delay calls of another kind.
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
  const registrations = createSlots(registrationsMax);
  const reads = createSlots(readsMax);
  const refunds = createSlots(refundsMax);
  const connections = createConnections(options.url, options.connectTimeoutMs);

  const encodeForm = (parameters: Record<string, string>) =>
    new URLSearchParams({ userName: options.userName, password: options.password, ...parameters }).toString();
  // Timers accept only whole milliseconds, and the remaining time of a deadline has fractions.
  const limitToTimeout = (timeoutMs: number) => Math.max(1, Math.floor(Math.min(timeoutMs, options.timeoutMs)));

  const sendPost = async (
    slots: FairSemaphore,
    businessId: string,
    path: string,
    parameters: Record<string, string>,
    timeoutMs: number,
    commit?: () => Promise<boolean>,
  ): Promise<Response | { readonly kind: "not_sent"; readonly reason: string }> => {
    const waitMs = limitToTimeout(timeoutMs);
    const signal = AbortSignal.timeout(waitMs);
    const onResponse = () => faultPoint(`${path.split(".")[0]}.answering`);
    const readBody = (body: AsyncIterable<Buffer>) => readText(body, responseBytesMax);
    const result = await slots
      .run(businessId, waitMs, () =>
        connections.post(path, encodeForm(parameters), { signal, onResponse, readBody, ...(commit && { commit }) }),
      )
      // `run` rejects if no slot becomes free in time.
      .catch((error: unknown) => ({ kind: "not_sent" as const, reason: String(error) }));
    return result.kind === "responded" ? parseResponse(result.statusCode, result.text) : result;
  };
  /**
   * Sends a call that the caller may repeat. The outcome is also "unknown" if the call was not
   * sent.
   */
  const send = async (...call: Parameters<typeof sendPost>): Promise<Response> => {
    const response = await sendPost(...call);
    return response.kind === "not_sent" ? { kind: "unknown", reason: response.reason } : response;
  };

  return measureCalls({
    async register(order, timeoutMs) {
      const parameters = buildRegistration(order, options.terminalId);
      return readRegistration(await send(registrations, order.businessId, "register.do", parameters, timeoutMs));
    },

    async confirm({ businessId, orderId, language }, timeoutMs) {
      const parameters = { mdOrder: orderId, language };
      return readConfirmedOrder(await send(reads, businessId, "public/acknowledgeTransaction.do", parameters, timeoutMs));
    },

    async status({ businessId, ...order }, timeoutMs) {
      return readOrderState(await send(reads, businessId, "getOrderStatusExtended.do", order, timeoutMs));
    },

    async refund({ businessId, orderId, amountMinor }, timeoutMs, commit) {
      const parameters = { orderId, amount: amountMinor.toString() };
      const response = await sendPost(refunds, businessId, "refund.do", parameters, timeoutMs, commit);
      return response.kind === "not_sent" ? response : readRefund(response);
    },

    isQueueFull: (businessId, kind) => (kind === "reads" ? reads : registrations).queuedCount(businessId) >= queuedMax,

    async [Symbol.asyncDispose]() {
      connections.close();
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
  // The read before the refund uses the same connection, and the processor may respond to that read
  // twice.
  if (readField(response.value, "orderStatus") !== undefined)
    return { kind: "unknown", reason: "the response belongs to an earlier read of the order" };
  if (errorCode === "0") return { kind: "accepted", value: null };
  const message = readField(response.value, "errorMessage") ?? "";
  if (errorCode === systemErrorCode) return { kind: "unknown", reason: `code ${errorCode}: ${message}` };
  return { kind: "refused", errorCode, message };
}
