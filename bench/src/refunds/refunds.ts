import { aPaidPayment } from "../a-paid-payment.ts";
import { webhookDelays } from "../webhook-delays.ts";

/**
 * How long after a refund's 200 its webhook arrives. The webhook may come first: the event is on
 * its way before the answer is.
 */
export const refunds = ({ rounds }: { rounds: number; seconds: number }) =>
  webhookDelays(
    {
      calls: "refunds",
      callMs: "refund answered ms (median)",
      delayMs: "webhook after the 200, ms (median)",
      async run(system, call, webhook) {
        const id = await aPaidPayment(system);
        const sentAtMs = performance.now();
        const refunded = await call("POST", `/api/v1/payments/${id}/refund`);
        const answeredAtMs = performance.now();
        if (refunded.status !== 200) throw new Error(`refund: ${refunded.status} ${JSON.stringify(refunded.body)}`);
        const { receivedAtMs } = await webhook("PAYMENT_REFUNDED", id);
        return { callMs: answeredAtMs - sentAtMs, delayMs: receivedAtMs - answeredAtMs };
      },
    },
    rounds,
  );
