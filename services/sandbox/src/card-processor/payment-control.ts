import type { FastifyInstance, FastifyReply } from "fastify";
import { isText } from "../checks.ts";
import { registerControls } from "../controls.ts";
import { refuse } from "../edge.ts";
import { matchCard } from "./card-entry.ts";
import {
  cancelOrder,
  chooseCard,
  enterPassword,
  movementsOf,
  type Order,
  redirectUrl,
  refundableMinor,
  refundOrder,
  reverseOrder,
} from "./order.ts";
import { outcomeOf } from "./outcome.ts";
import { type Processor, payPageUrl } from "./processor.ts";

/** Registers control calls that act as the cardholder and the back office, and that read orders. */
export function paymentControl(app: FastifyInstance, processor: Processor): void {
  const { orders, calls, clock } = processor;
  const control = registerControls<Order>(app, {
    path: "/sandbox/payments",
    find: orders.byId,
    reference: { name: "orderNumber", missing: "missing_order_number" },
    findByReference: orders.byNumber,
    unknown: { error: "unknown_order", message: "The sandbox does not have this order. Register one with register.do." },
    calls,
    view: (order) => viewOf(processor, order),
  });

  // Returns all money movements at the processor, so that a test can compare them with a statement.
  app.get("/sandbox/money-movements", () => {
    const movements = orders.all().flatMap(movementsOf);
    movements.sort((a, b) => a.at.localeCompare(b.at));
    return { movements, total: movements.reduce((sum, { amount }) => sum + amount, 0) };
  });

  control("/pay", (order, { pan, expiry, cvv2, password }, reply) => {
    if (order.status !== 0) return refuseFinished(reply, order);
    if (!isText(pan) || !isText(expiry) || !isText(cvv2) || !isText(password)) {
      return refuse(reply, 422, "invalid_card", "pan, expiry (MM/YYYY), cvv2 and password must be strings.");
    }
    const match = matchCard({ pan, expiry, cvv2 });
    if ("problems" in match) {
      const message = "This is not a test card. Number, expiry and CVV2 must match a card of the list on GET /.";
      return refuse(reply, 422, "not_a_test_card", message, { problems: Object.values(match.problems) });
    }
    chooseCard(order, match.card);
    enterPassword(order, password, clock.nowMs());
    orders.save(order);
    return {
      ...((!order.outcome || order.passwordAttemptsLeft === 0) && { attempts_left: order.passwordAttemptsLeft }),
      ...(order.outcome && { redirect_url: redirectUrl(order) }),
    };
  });

  control("/cancel", (order, _body, reply) => {
    if (order.status !== 0) return refuseFinished(reply, order);
    cancelOrder(order, clock.nowMs());
    orders.save(order);
    return { redirect_url: redirectUrl(order) };
  });

  control("/refund", (order, { amount }, reply) => {
    const refundable = refundableMinor(order);
    const amountMinor = amount === undefined ? refundable : minorOf(amount);
    if (!amountMinor && amount !== undefined) {
      const message = 'amount must be a string of dinars above 0, such as "1000.00". Omit it to refund the rest.';
      return refuse(reply, 422, "invalid_amount", message);
    }
    if (refundable === 0 || !amountMinor || amountMinor > refundable) {
      const message = `The refundable amount of this order (orderStatus ${order.status}) is ${refundable} centimes.`;
      return refuse(reply, 409, "not_refundable", message, totalsOf(order));
    }
    refundOrder(order, amountMinor, "back_office", clock.nowMs());
    orders.save(order);
    return totalsOf(order);
  });

  control("/reverse", (order, _body, reply) => {
    if (order.status !== 2) {
      const message = `Only a deposited order without refunds can be reversed. This order has orderStatus ${order.status}.`;
      return refuse(reply, 409, "not_reversible", message, totalsOf(order));
    }
    reverseOrder(order, clock.nowMs());
    orders.save(order);
    return totalsOf(order);
  });
}

function viewOf(processor: Processor, order: Order): object {
  const { orderId, orderNumber, outcome, refunds = [] } = order;
  return {
    ...totalsOf(order),
    ...(outcome && { actionCode: outcomeOf(outcome).actionCode, outcome }),
    refunds: refunds.map(({ amountMinor, atMs, by }) => ({ amount: amountMinor, at: new Date(atMs).toISOString(), by })),
    confirmed: order.confirmedAtMs !== undefined,
    formUrl: payPageUrl(processor, orderId),
    calls: processor.calls.of({ id: orderId, reference: orderNumber }),
  };
}

const totalsOf = (order: Order) => ({
  orderId: order.orderId,
  orderNumber: order.orderNumber,
  orderStatus: order.status,
  amount: order.amountMinor,
  depositedAmount: order.depositedMinor,
  refundedAmount: order.refundedMinor,
});

/** Returns the centimes of an amount in dinars; 0 for an invalid amount. */
const minorOf = (amount: unknown) =>
  isText(amount) && /^\d{1,10}(\.\d{1,2})?$/.test(amount) ? Math.round(Number(amount) * 100) : 0;

const refuseFinished = (reply: FastifyReply, order: Order) =>
  refuse(
    reply,
    409,
    "already_finished",
    `This order is finished (orderStatus ${order.status}, ${order.outcome}). Register a new order.`,
    order.outcome && { redirect_url: redirectUrl(order) },
  );
