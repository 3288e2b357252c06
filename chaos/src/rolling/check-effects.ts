import { apiCaller } from "@amana/dev-env/demo/api";
import { waitUntil } from "@amana/dev-env/eventually";
import { readProcessorView } from "@amana/e2e/test-system";
import type { Receiver } from "../events/start-receivers.ts";
import type { Shop } from "./customers.ts";

const webhooksMsMax = 180_000;

/**
 * Checks that each successful request took effect once, and that each event was emitted once.
 */
export async function checkEffects({ system, apiKey, balancer, report, completed }: Shop, receiver: Receiver): Promise<void> {
  const expected = [
    ...[...completed.payments].flatMap(([id, { refunded }]) => [
      { event: "PAYMENT_COMPLETED", subjectId: id, count: 1 },
      { event: "PAYMENT_REFUNDED", subjectId: id, count: refunded > 0 ? 1 : 0 },
    ]),
    ...completed.applications.map((id) => ({ event: "KYC_COMPLETED", subjectId: id, count: 1 })),
  ];
  const countEvents = () => countAcceptedEvents(receiver);
  await waitUntil(() => {
    const counts = countEvents();
    return expected.every(({ event, subjectId, count }) => (counts.get(`${event} ${subjectId}`) ?? 0) >= count);
  }, webhooksMsMax);

  const counts = countEvents();
  for (const { event, subjectId, count } of expected) {
    const actual = counts.get(`${event} ${subjectId}`) ?? 0;
    report.check(
      "an event is emitted as often as expected",
      actual === count,
      () => `${event} of ${subjectId}: ${actual} events, expected ${count}`,
    );
  }
  for (const [id, arrivals] of receiver.arrivals) {
    const accepted = arrivals.filter(({ isAccepted }) => isAccepted).length;
    report.check("an event is delivered once", accepted === 1, () => `${id}: accepted ${accepted} times`);
  }
  for (const [id, { orderId, refunded }] of completed.payments) {
    const { refundedAmount, refundCalls } = await readProcessorView(system, orderId);
    const isExecutedOnce = refundedAmount === refunded && refundCalls === (refunded > 0 ? 1 : 0);
    report.check(
      "a refund is executed once",
      isExecutedOnce,
      () => `${id}: ${refundedAmount} in ${refundCalls} calls, expected ${refunded}`,
    );
  }
  const call = apiCaller(balancer.next(), apiKey);
  for (const email of completed.clients) {
    const { headers, text } = await call("GET", `/api/v1/clients?email=${encodeURIComponent(email)}`);
    report.check("a client is registered once", headers["x-total-count"] === "1", () => `${email}: ${text}`);
  }
}

/** Counts the distinct accepted events by type and payment or application. */
function countAcceptedEvents(receiver: Receiver): Map<string, number> {
  const counts = new Map<string, number>();
  for (const arrivals of receiver.arrivals.values()) {
    const [accepted] = arrivals.filter(({ isAccepted }) => isAccepted);
    if (!accepted) continue;
    const { event, payment_id, application_id } = JSON.parse(accepted.body) as Record<string, string>;
    const key = `${event} ${payment_id ?? application_id}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
