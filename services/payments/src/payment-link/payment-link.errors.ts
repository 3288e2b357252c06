import { conflict, invalid, notFound } from "@amana/rpc";

export const paymentLinkNotFound = () => notFound("not_found", "There is no such payment link.");

/** For the id in a filter. */
export const namedPaymentLinkNotFound = () =>
  notFound("payment_link_not_found", "There is no payment link with this payment_link_id. Check the id.");

/** For the token of a checkout page. */
export const checkoutNotFound = () => notFound("payment_link_not_found", "There is no payment link with this address.");

export const fieldInvalid = (pointer: string, detail: string) => invalid("validation_failed", detail, { pointer });

export const buyerFieldRequired = (field: string) => fieldInvalid(`/${field}`, `${field} is required.`);

/** Does not state whether the link is inactive, expired or completed, because buyers see it. */
export const paymentLinkNotAvailable = () =>
  conflict("payment_link_not_available", "The payment link is not available any more. Contact the seller.");

export const paymentLinkFull = () =>
  conflict("payment_link_full", "Another customer is paying for the last one. Try again in a few minutes.");
