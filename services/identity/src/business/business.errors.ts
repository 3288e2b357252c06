import { conflict, invalid, notFound } from "@amana/rpc";

/** Error for an unknown business id in the path of the request. */
export const businessNotFound = () => notFound("not_found", "There is no business with this id. Check the id.");

/**
 * Error for an unknown business id in a field or parameter. `pointer` is the JSON pointer of the
 * field, or empty for a query parameter.
 */
export const referencedBusinessNotFound = (pointer = "/business_id") =>
  notFound("business_not_found", "There is no business with this business_id. Check the id.", { pointer });

export const initialStatusInvalid = () =>
  invalid("validation_failed", "The status of a new business must be ACTIVE or PENDING. Omit status for ACTIVE.", {
    pointer: "/status",
  });

export const invalidStatusTransition = (from: string, to: string, possible: readonly string[]) => {
  const allowedChanges = possible.length > 0 ? `From ${from} it can become ${possible.join(" or ")}.` : `${from} is final.`;
  return conflict("invalid_status_transition", `A business that is ${from} cannot become ${to}. ${allowedChanges}`);
};
