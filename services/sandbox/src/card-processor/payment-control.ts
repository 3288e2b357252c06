import type { FastifyInstance, FastifyReply } from "fastify";
import { matchCard } from "./card-entry.ts";
import {
  cancelOrder,
  chooseCard,
  enterPassword,
  type Order,
  redirectUrl,
  refundableMinor,
  refundOrder,
  reverseOrder,
} from "./order.ts";
import { outcomeOf } from "./outcome.ts";
import type { Processor } from "./processor.ts";

type Body = Readonly<Record<string, unknown>>;
type Handle = (order: Order, body: Body, reply: FastifyReply) => object;

/** The calls by which tests and demonstrations play the cardholder and the back office, and look into the books. */
export function paymentControl(app: FastifyInstance, processor: Processor): void {
  const { orders, clock } = processor;
  const onOrder = (method: "GET" | "POST", action: string, handle: Handle) =>
    app.route<{ Params: { mdOrder: string }; Body: Body | null }>({
      method,
      url: `/sandbox/payments/:mdOrder${action}`,
      handler({ params, body }, reply) {
        const order = orders.byId(params.mdOrder);
        return order ? handle(order, body ?? {}, reply) : reply.code(404).send(unknown);
      },
    });

  onOrder("POST", "/pay", (order, { pan, expiry, cvv2, password }, reply) => {
    if (order.status !== 0) return alreadyFinished(reply, order);
    if (![pan, expiry, cvv2, password].every((value) => typeof value === "string")) {
      return reply.code(422).send({ error: "invalid_card", message: "pan, expiry (MM/YYYY), cvv2 and password must be texts." });
    }
    const match = matchCard({ pan: String(pan), expiry: String(expiry), cvv2: String(cvv2) });
    if ("problems" in match) {
      return reply.code(422).send({
        error: "not_a_test_card",
        message: "This is not one of the test cards: number, expiry and CVV2 must all match. The README lists them.",
        problems: Object.values(match.problems),
      });
    }
    chooseCard(order, match.card);
    enterPassword(order, String(password), clock.nowMs());
    orders.save(order);
    return {
      ...((!order.outcome || order.passwordAttemptsLeft === 0) && { attempts_left: order.passwordAttemptsLeft }),
      ...(order.outcome && { redirect_url: redirectUrl(order) }),
    };
  });

  onOrder("POST", "/cancel", (order, _body, reply) => {
    if (order.status !== 0) return alreadyFinished(reply, order);
    cancelOrder(order, clock.nowMs());
    orders.save(order);
    return { redirect_url: redirectUrl(order) };
  });

  onOrder("POST", "/refund", (order, { amount }, reply) => {
    const remainsMinor = refundableMinor(order);
    const amountMinor = amount === undefined ? remainsMinor : minorOf(amount);
    if (!amountMinor && amount !== undefined) {
      const message = 'amount must be a text of dinars above 0 such as "1000.00", or left out for the rest.';
      return reply.code(422).send({ error: "invalid_amount", message });
    }
    if (remainsMinor === 0 || !amountMinor || amountMinor > remainsMinor) {
      const message = `Of this order (orderStatus ${order.status}) ${remainsMinor} centimes can be given back. Ask for no more.`;
      return reply.code(409).send({ error: "not_refundable", message, ...totalsOf(order) });
    }
    refundOrder(order, amountMinor, "back_office", clock.nowMs());
    orders.save(order);
    return totalsOf(order);
  });

  onOrder("POST", "/reverse", (order, _body, reply) => {
    if (order.status !== 2) {
      const message = `Only a deposited order of which nothing was given back can be reversed (orderStatus ${order.status}).`;
      return reply.code(409).send({ error: "not_reversible", message, ...totalsOf(order) });
    }
    reverseOrder(order, clock.nowMs());
    orders.save(order);
    return totalsOf(order);
  });

  onOrder("GET", "", (order) => view(processor, order));

  app.get<{ Querystring: { orderNumber?: string } }>("/sandbox/payments", (request, reply) => {
    const { orderNumber } = request.query;
    if (!orderNumber) return reply.code(422).send({ error: "missing_order_number", message: "Add ?orderNumber= to the path." });
    const order = orders.byNumber(orderNumber);
    if (order) return view(processor, order);
    // Calls that never became an order are still worth counting.
    return reply.code(404).send({ ...unknown, calls: orders.callsOf({ orderNumber }) });
  });
}

function view({ orders, payPageUrl }: Processor, order: Order): object {
  const outcome = order.outcome && outcomeOf(order.outcome);
  return {
    ...totalsOf(order),
    ...(outcome && { actionCode: outcome.actionCode, outcome: order.outcome }),
    refunds: (order.refunds ?? []).map(({ amountMinor, atMs, by }) => ({
      amount: amountMinor,
      at: new Date(atMs).toISOString(),
      by,
    })),
    confirmed: order.confirmedAtMs !== undefined,
    formUrl: payPageUrl(order.orderId),
    calls: orders.callsOf(order),
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

/** Centimes of a text of dinars; 0 when it is none. */
const minorOf = (amount: unknown) =>
  typeof amount === "string" && /^\d{1,10}(\.\d{1,2})?$/.test(amount) ? Math.round(Number(amount) * 100) : 0;

const unknown = { error: "unknown_order", message: "The sandbox knows no such order. Register one first with register.do." };

const alreadyFinished = (reply: FastifyReply, order: Order) =>
  reply.code(409).send({
    error: "already_finished",
    message: `This order is finished (orderStatus ${order.status}, ${order.outcome}). Register a new one.`,
    ...(order.outcome && { redirect_url: redirectUrl(order) }),
  });
