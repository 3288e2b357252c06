import { FairSemaphore, faultPoint, readText, timed } from "@amana/runtime";
import { Agent, request } from "undici";
import { processorCalls } from "../metrics.ts";
import type { CardProcessor, OrderToRegister, Outcome, RegisteredOrder } from "./card-processor.ts";
import { postOnce } from "./post-once.ts";
import { field, parseResponse, readOrderState } from "./satim-response.ts";

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
/** Concurrent calls of each kind. Each kind has its own slots, so that none blocks another. */
const registrationsMax = 16;
const readsMax = 32;
const refundsMax = 32;
/** Queued calls of one kind and one business; more calls would only time out. */
const queuedMax = 32;
/** Error code of an internal fault of the processor; the refund may have happened. */
const systemErrorCode = "7";

/**
 * Client of SATIM's e-commerce gateway over HTTPS. Parameters are sent as a form in a POST, so that
 * URLs contain no credentials. Without a readable JSON response the outcome is "unknown". No call
 * is retried.
 */
export function createSatim(options: SatimOptions): CardProcessor & AsyncDisposable {
  // Each business uses at most half of the connections.
  const slotsOf = (slots: number) => new FairSemaphore({ slots, perTenant: slots / 2 });
  const pool = (connections: number) => ({
    agent: new Agent({ connect: { timeout: options.connectTimeoutMs }, connections, keepAliveTimeout: 20_000 }),
    slots: slotsOf(connections),
  });
  const registrations = pool(registrationsMax);
  const reads = pool(readsMax);
  const refundSlots = slotsOf(refundsMax);

  const formOf = (parameters: Record<string, string>) =>
    new URLSearchParams({ userName: options.userName, password: options.password, ...parameters }).toString();
  // Timers accept whole milliseconds only, and the rest of a deadline has fractions.
  const wholeMs = (timeoutMs: number) => Math.max(1, Math.floor(Math.min(timeoutMs, options.timeoutMs)));

  const post = async (
    { agent, slots }: ReturnType<typeof pool>,
    businessId: string,
    path: string,
    parameters: Record<string, string>,
    timeoutMs: number,
  ): Promise<Response> => {
    const operation = path.split(".")[0];
    const waitMs = wholeMs(timeoutMs);
    const signal = AbortSignal.timeout(waitMs);
    try {
      return await slots.run(businessId, waitMs, async () => {
        const response = await request(`${options.url}/${path}`, {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
          body: formOf(parameters),
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

  return measured({
    async register(order, timeoutMs) {
      const parameters = registrationOf(order, options.terminalId);
      return readRegistration(await post(registrations, order.businessId, "register.do", parameters, timeoutMs));
    },

    async confirm({ businessId, orderId, language }, timeoutMs) {
      const parameters = { mdOrder: orderId, language };
      return readOrderState(await post(reads, businessId, "public/acknowledgeTransaction.do", parameters, timeoutMs));
    },

    async status({ businessId, ...order }, timeoutMs) {
      return readOrderState(await post(reads, businessId, "getOrderStatusExtended.do", order, timeoutMs));
    },

    async refund({ businessId, orderId, amountMinor }, timeoutMs, commit) {
      const waitMs = wholeMs(timeoutMs);
      const signal = AbortSignal.timeout(waitMs);
      const result = await refundSlots
        .run(businessId, waitMs, () =>
          postOnce(new URL(`${options.url}/refund.do`), formOf({ orderId, amount: amountMinor.toString() }), {
            connectTimeoutMs: options.connectTimeoutMs,
            signal,
            commit,
            onResponse: () => faultPoint("refund.answering"),
            readBody: (response) => readText(response, responseBytesMax),
          }),
        )
        // Rejected if no slot became free in time.
        .catch((error: unknown) => ({ kind: "not_sent" as const, reason: String(error) }));
      return result.kind === "responded" ? readRefund(parseResponse(result.statusCode, result.text)) : result;
    },

    isCrowded: (businessId, kind) => (kind === "reads" ? reads : registrations).slots.waiting(businessId) >= queuedMax,

    async [Symbol.asyncDispose]() {
      await Promise.all([registrations.agent.close(), reads.agent.close()]);
    },
  });
}

const calls = { durations: processorCalls, to: "card processor" };

/** Returns the processor with the duration and outcome of each call measured. */
const measured = <P extends CardProcessor>(processor: P): P => ({
  ...processor,
  register: timed(calls, "register", processor.register),
  confirm: timed(calls, "confirm", processor.confirm),
  status: timed(calls, "status", processor.status),
  refund: timed(calls, "refund", processor.refund),
});

type Response = Outcome<Record<string, unknown>>;

const registrationOf = (order: OrderToRegister, terminalId: string) => ({
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
  const errorCode = field(response.value, "errorCode") ?? "0";
  if (errorCode !== "0") return { kind: "refused", errorCode, message: field(response.value, "errorMessage") ?? "" };
  const orderId = field(response.value, "orderId");
  const formUrl = field(response.value, "formUrl");
  if (!orderId || !formUrl) return { kind: "unknown", reason: "the response has no order id or form URL" };
  return { kind: "accepted", value: { orderId, formUrl } };
}

function readRefund(response: Response): Outcome<null> {
  if (response.kind !== "accepted") return response;
  const errorCode = field(response.value, "errorCode");
  if (errorCode === undefined) return { kind: "unknown", reason: "the response has no error code" };
  if (errorCode === "0") return { kind: "accepted", value: null };
  const message = field(response.value, "errorMessage") ?? "";
  if (errorCode === systemErrorCode) return { kind: "unknown", reason: `code ${errorCode}: ${message}` };
  return { kind: "refused", errorCode, message };
}
