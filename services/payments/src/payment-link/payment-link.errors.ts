import { conflict, invalid, notFound } from "@amana/rpc";

export const paymentLinkNotFound = () => notFound("not_found", "There is no payment link with this id. Check the id.");

/** Error for an unknown payment_link_id in a filter. */
export const referencedPaymentLinkNotFound = () =>
  notFound("payment_link_not_found", "There is no payment link with this payment_link_id. Check the id.");

/** Error for an unknown token of a checkout page. */
export const checkoutNotFound = () => notFound("payment_link_not_found", "There is no payment link with this address.");

export const fieldInvalid = (pointer: string, detail: string) => invalid("validation_failed", detail, { pointer });

export const buyerFieldRequired = (field: string) => fieldInvalid(`/${field}`, `${field} is required.`);

/**
 * Buyers see this text. Therefore it does not state whether the link is inactive, expired or
 * completed.
 */
export const paymentLinkNotAvailable = () =>
  conflict("payment_link_not_available", "The payment link is no longer available. Contact the seller.");

export const paymentLinkFull = () =>
  conflict("payment_link_full", "All remaining payments of this link are in progress. Try again in a few minutes.");
