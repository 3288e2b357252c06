/**
 * Simulates a card processor that responds without a delay. It reports every order as paid, and
 * accepts every refund.
 */
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { paidMinor } from "./paid-payments.ts";

const refunded = new Set<string>();

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? "", "http://processor");
  const orderId = new URLSearchParams(await text(request)).get("orderId") ?? "";
  if (pathname.endsWith("/refund.do")) refunded.add(orderId);
  const order = {
    errorCode: "0",
    orderNumber: orderId.slice(-10),
    orderStatus: refunded.has(orderId) ? 4 : 2,
    actionCode: 0,
    amount: paidMinor,
    currency: "012",
    attributes: [{ name: "mdOrder", value: orderId }],
    paymentAmountInfo: { depositedAmount: paidMinor, refundedAmount: refunded.has(orderId) ? paidMinor : 0 },
  };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(pathname.endsWith("/refund.do") ? { errorCode: "0", errorMessage: "" } : order));
});
server.listen(Number(process.env["PORT"]), "127.0.0.1");
