import { FairSemaphore, faultPoint, readText, timed } from "@amana/runtime";
import { Agent, request } from "undici";
import { processorCalls } from "../metrics.ts";
import type { CardProcessor, OrderToRegister, Outcome, RegisteredOrder } from "./card-processor.ts";
import { postOnce } from "./post-once.ts";
import { field, readAnswer, readOrderState } from "./satim-answer.ts";

interface SatimOptions {
  /** Up to and without "/register.do". */
  readonly url: string;
  readonly userName: string;
  readonly password: string;
  readonly terminalId: string;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
}

const answerBytesMax = 256 * 1024;
/** How many calls of each sort are under way at the same time: no sort can take another's. */
const registrationsMax = 16;
const readsMax = 32;
const refundsMax = 32;
/** Calls of one sort and one business that wait; more would only run into their deadline. */
const waitingMax = 32;
/** The processor's word for a fault of its own: the refund may happen all the same. */
const systemErrorCode = "7";

/**
 * SATIM's e-commerce gateway over HTTPS: form parameters in a POST, so that credentials stay out of
 * addresses. What is no readable JSON answer is "unknown". Nothing is sent twice here.
 */
export function createSatim(options: SatimOptions): CardProcessor & AsyncDisposable {
  // One business uses at most half of the connections.
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
  // Only whole milliseconds are taken, and what remains of a deadline has fractions.
  const wholeMs = (timeoutMs: number) => Math.max(1, Math.floor(Math.min(timeoutMs, options.timeoutMs)));

  const post = async (
    { agent, slots }: ReturnType<typeof pool>,
    businessId: string,
    path: string,
    parameters: Record<string, string>,
    timeoutMs: number,
  ): Promise<Answer> => {
    const operation = path.split(".")[0];
    const waitMs = wholeMs(timeoutMs);
    const signal = AbortSignal.timeout(waitMs);
    try {
      return await slots.run(businessId, waitMs, async () => {
        const answer = await request(`${options.url}/${path}`, {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
          body: formOf(parameters),
          dispatcher: agent,
          signal,
        });
        faultPoint(`${operation}.answering`);
        return readAnswer(answer.statusCode, await readText(answer.body, answerBytesMax));
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
      const posted = await refundSlots
        .run(businessId, waitMs, () =>
          postOnce(new URL(`${options.url}/refund.do`), formOf({ orderId, amount: amountMinor.toString() }), {
            connectTimeoutMs: options.connectTimeoutMs,
            signal,
            commit,
            answering: () => faultPoint("refund.answering"),
            read: (answer) => readText(answer, answerBytesMax),
          }),
        )
        // No slot became free in time.
        .catch((error: unknown) => ({ kind: "not_sent" as const, reason: String(error) }));
      return posted.kind === "answered" ? readRefund(readAnswer(posted.statusCode, posted.text)) : posted;
    },

    isCrowded: (businessId, sort) => (sort === "reads" ? reads : registrations).slots.waiting(businessId) >= waitingMax,

    async [Symbol.asyncDispose]() {
      await Promise.all([registrations.agent.close(), reads.agent.close()]);
    },
  });
}

const calls = { durations: processorCalls, to: "card processor" };

/** The same, with how long each call takes and how it ends shown. */
const measured = <P extends CardProcessor>(processor: P): P => ({
  ...processor,
  register: timed(calls, "register", processor.register),
  confirm: timed(calls, "confirm", processor.confirm),
  status: timed(calls, "status", processor.status),
  refund: timed(calls, "refund", processor.refund),
});

type Answer = Outcome<Record<string, unknown>>;

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

function readRegistration(answer: Answer): Outcome<RegisteredOrder> {
  if (answer.kind !== "accepted") return answer;
  const errorCode = field(answer.value, "errorCode") ?? "0";
  if (errorCode !== "0") return { kind: "refused", errorCode, message: field(answer.value, "errorMessage") ?? "" };
  const orderId = field(answer.value, "orderId");
  const formUrl = field(answer.value, "formUrl");
  if (!orderId || !formUrl) return { kind: "unknown", reason: "the answer has no order id or form address" };
  return { kind: "accepted", value: { orderId, formUrl } };
}

function readRefund(answer: Answer): Outcome<null> {
  if (answer.kind !== "accepted") return answer;
  const errorCode = field(answer.value, "errorCode");
  if (errorCode === undefined) return { kind: "unknown", reason: "the answer has no error code" };
  if (errorCode === "0") return { kind: "accepted", value: null };
  const message = field(answer.value, "errorMessage") ?? "";
  if (errorCode === systemErrorCode) return { kind: "unknown", reason: `code ${errorCode}: ${message}` };
  return { kind: "refused", errorCode, message };
}
