import { conflict, notFound } from "@amana/rpc";

export const operatorKeyNotFound = () => notFound("not_found", "There is no such operator's key. Check the id.");

export const operatorKeyNameTaken = (name: string) =>
  conflict(
    "operator_key_name_taken",
    `An operator's live key is named "${name}". Choose another name, or revoke that key first.`,
    {
      pointer: "/name",
    },
  );

/** The deployment's setting gives it, and takes it from a key that a new setting replaces. */
export const operatorKeyNameReserved = (name: string) =>
  conflict("operator_key_name_taken", `The name "${name}" is kept for the deployment's own key. Choose another one.`, {
    pointer: "/name",
  });

export const lastOperatorKey = () =>
  conflict("last_operator_key", "It is the last live key of an operator. Issue another one first, and revoke this one with it.");
