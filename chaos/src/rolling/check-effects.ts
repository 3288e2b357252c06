import { apiCaller } from "@amana/dev-env/demo/api";
import { until } from "@amana/dev-env/eventually";
import { processorView } from "@amana/e2e/test-system";
import type { Receiver } from "../events/receive-events.ts";
import type { Shop } from "./customers.ts";

const settleMsMax = 180_000;

/** Everything that was said to be done was done once, and told once. */
export async function checkEffects({ system, apiKey, balancer, report, done }: Shop, receiver: Receiver): Promise<void> {
  const wanted = [
    ...[...done.payments].flatMap(([id, { refunded }]) => [
      { event: "PAYMENT_COMPLETED", about: id, count: 1 },
      { event: "PAYMENT_REFUNDED", about: id, count: refunded > 0 ? 1 : 0 },
    ]),
    ...done.applications.map((id) => ({ event: "KYC_COMPLETED", about: id, count: 1 })),
  ];
  const told = () => countOf(receiver);
  await until(() => {
    const counts = told();
    return wanted.every(({ event, about, count }) => (counts.get(`${event} ${about}`) ?? 0) >= count);
  }, settleMsMax);

  const counts = told();
  for (const { event, about, count } of wanted) {
    const seen = counts.get(`${event} ${about}`) ?? 0;
    report.check("an event is told", seen === count, () => `${event} of ${about}: ${seen} events, not ${count}`);
  }
  for (const [id, arrivals] of receiver.arrivals) {
    const accepted = arrivals.filter(({ isAccepted }) => isAccepted).length;
    report.check("an event is delivered once", accepted === 1, () => `${id}: accepted ${accepted} times`);
  }
  for (const [id, { orderId, refunded }] of done.payments) {
    const { refundedAmount, refundCalls } = await processorView(system, orderId);
    const holds = refundedAmount === refunded && refundCalls === (refunded > 0 ? 1 : 0);
    report.check("a refund is given once", holds, () => `${id}: ${refundedAmount} in ${refundCalls} calls, not ${refunded}`);
  }
  const call = apiCaller(balancer.next(), apiKey);
  for (const email of done.clients) {
    const { headers, text } = await call("GET", `/api/v1/clients?email=${encodeURIComponent(email)}`);
    report.check("a client is registered once", headers["x-total-count"] === "1", () => `${email}: ${text}`);
  }
}

/** Different events of each type about each payment or application that were accepted. */
function countOf(receiver: Receiver): Map<string, number> {
  const counts = new Map<string, number>();
  for (const arrivals of receiver.arrivals.values()) {
    const [body] = arrivals.filter(({ isAccepted }) => isAccepted);
    if (!body) continue;
    const { event, payment_id, application_id } = JSON.parse(body.body) as Record<string, string>;
    const what = `${event} ${payment_id ?? application_id}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return counts;
}
