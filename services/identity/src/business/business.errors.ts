import { conflict, invalid, notFound } from "@amana/rpc";

/** For an id in the path. */
export const businessNotFound = () => notFound("not_found", "There is no such business. Check the id.");

/** For a business that a body names, or, without a pointer, a query. */
export const namedBusinessNotFound = (pointer = "/business_id") =>
  notFound("business_not_found", "There is no business with this business_id. Check the id.", { pointer });

export const initialStatusInvalid = () =>
  invalid("validation_failed", "A new business is ACTIVE or PENDING. Leave status out for ACTIVE.", {
    pointer: "/status",
  });

export const invalidStatusTransition = (from: string, to: string, possible: readonly string[]) => {
  const next = possible.length > 0 ? `From ${from} it can become ${possible.join(" or ")}.` : `${from} is final.`;
  return conflict("invalid_status_transition", `A business that is ${from} cannot become ${to}. ${next}`);
};
