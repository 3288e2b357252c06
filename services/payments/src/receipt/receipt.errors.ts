import { conflict, invalid, notFound, unavailable } from "@amana/rpc";
import { Code, ConnectError } from "@connectrpc/connect";

export const receiptNotAvailable = (status: string) =>
  conflict("receipt_not_available", `The payment is ${status}. Only a PAID or REFUNDED payment has a receipt.`, {
    members: { payment_status: status },
  });

export const receiptTokenUnknown = () => notFound("not_found", "There is no receipt at this address.");

export const receiptEmailNotAvailable = () =>
  conflict("receipt_email_not_available", "This deployment does not send receipts by e-mail. Use the PDF or the page instead.");

export const receiptEmailLimitReached = (limit: number) =>
  conflict(
    "receipt_email_limit_reached",
    `The receipt of this payment was sent ${limit} times, which is the limit. Use the PDF or the page instead.`,
  );

export const receiptEmailInvalid = () =>
  invalid("validation_failed", "The e-mail address is not valid. Send an address such as name@example.com.", {
    pointer: "/email",
  });

/**
 * A ConnectError, because RPC clients repeat a read that failed with the refusal
 * service_unavailable. The public response is the same, but each repetition would fail again.
 */
export const receiptNotRendered = () => new ConnectError("the receipt could not be rendered as PDF", Code.Unavailable);

export const tooManyReceipts = () =>
  unavailable("service_unavailable", "Too many receipts are being rendered. Try again in a second.");
