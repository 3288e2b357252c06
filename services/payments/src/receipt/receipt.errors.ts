import { conflict, invalid, notFound, unavailable } from "@amana/rpc";

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

// RPC clients repeat a read that fails with service_unavailable. The next two refusals have other
// codes, so that RPC clients do not repeat the call: a receipt that was not rendered would probably
// fail again, and a call that got no slot has already waited for seconds.

export const receiptNotRendered = () =>
  unavailable(
    "receipt_not_rendered",
    "The PDF of the receipt could not be created. Use the page of the receipt instead, or try again in ten minutes.",
  );

export const tooManyReceipts = () => unavailable("overloaded", "Too many receipts are being rendered. Try again in a second.");
