import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import type { TestGateway } from "./harness.ts";

const id = "019a0000-0000-7000-8000-000000000001";

/**
 * Delays the responses of the payments service to reads until `release` is called. `read` is the
 * text of a request that reads a payment.
 */
export function delayReads({ behaviour, business }: TestGateway) {
  const responseReady = Promise.withResolvers<void>();
  behaviour.payments.getPayment = async () => {
    await responseReady.promise;
    return { id, currency: "DZD", status: PaymentStatus.PAID };
  };
  const { authorization } = business.headers;
  const read = `GET /api/v1/payments/${id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`;
  return { read, release: () => responseReady.resolve() };
}
