import { faultPoint } from "@amana/runtime";
import { Agent, request } from "undici";
import type { CardProcessor, Outcome } from "./card-processor.ts";
import { field, readAnswer, readOrderState } from "./satim-answer.ts";

export interface SatimOptions {
  /** Up to and without "/register.do". */
  readonly url: string;
  readonly userName: string;
  readonly password: string;
  readonly terminalId: string;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
}

const answerBytesMax = 256 * 1024;

/**
 * SATIM's e-commerce gateway over HTTPS: form parameters in the body of a POST, so that credentials stay out of
 * addresses, and JSON answers. Anything that is not a readable JSON answer is "unknown". Nothing is sent twice here.
 */
export function createSatim(options: SatimOptions): CardProcessor & AsyncDisposable {
  const agent = new Agent({ connect: { timeout: options.connectTimeoutMs }, connections: 32, keepAliveTimeout: 20_000 });

  const post = async (
    path: string,
    parameters: Record<string, string>,
    timeoutMs: number,
  ): Promise<Outcome<Record<string, unknown>>> => {
    const body = new URLSearchParams({ userName: options.userName, password: options.password, ...parameters }).toString();
    const operation = path.split(".")[0];
    // Only whole milliseconds are taken, and what remains of a deadline has fractions.
    const signal = AbortSignal.timeout(Math.max(1, Math.floor(Math.min(timeoutMs, options.timeoutMs))));
    try {
      const answer = await request(`${options.url}/${path}`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
        body,
        dispatcher: agent,
        signal,
      });
      faultPoint(`${operation}.answering`);
      return readAnswer(answer.statusCode, await readText(answer.body));
    } catch (error) {
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      return { kind: "unknown", reason };
    }
  };

  return {
    async register(order, timeoutMs) {
      const answer = await post(
        "register.do",
        {
          orderNumber: order.orderNumber,
          amount: order.amountMinor.toString(),
          currency: "012",
          returnUrl: order.returnUrl,
          failUrl: order.failUrl,
          language: order.language,
          ...(order.description === undefined ? {} : { description: order.description }),
          jsonParams: JSON.stringify({
            force_terminal_id: options.terminalId,
            ...(order.orderRef === undefined ? {} : { udf1: order.orderRef }),
          }),
        },
        timeoutMs,
      );
      if (answer.kind !== "accepted") return answer;
      const errorCode = field(answer.value, "errorCode") ?? "0";
      if (errorCode !== "0") return { kind: "refused", errorCode, message: field(answer.value, "errorMessage") ?? "" };
      const orderId = field(answer.value, "orderId");
      const formUrl = field(answer.value, "formUrl");
      if (!orderId || !formUrl) return { kind: "unknown", reason: "the answer has no order id or form address" };
      return { kind: "accepted", value: { orderId, formUrl } };
    },

    async confirm(orderId, language, timeoutMs) {
      return readOrderState(await post("public/acknowledgeTransaction.do", { mdOrder: orderId, language }, timeoutMs));
    },

    async status(order, timeoutMs) {
      return readOrderState(await post("getOrderStatusExtended.do", { ...order }, timeoutMs));
    },

    async refund(orderId, amountMinor, timeoutMs) {
      const answer = await post("refund.do", { orderId, amount: amountMinor.toString() }, timeoutMs);
      if (answer.kind !== "accepted") return answer;
      const errorCode = field(answer.value, "errorCode");
      if (errorCode === undefined) return { kind: "unknown", reason: "the answer has no error code" };
      if (errorCode === "0") return { kind: "accepted", value: null };
      return { kind: "refused", errorCode, message: field(answer.value, "errorMessage") ?? "" };
    },

    async [Symbol.asyncDispose]() {
      await agent.close();
    },
  };
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > answerBytesMax) throw new Error("the answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
