import { conflict, notFound } from "@amana/rpc";

export const operatorKeyNotFound = () => notFound("not_found", "There is no operator key with this id. Check the id.");

export const operatorKeyNameTaken = (name: string) =>
  conflict(
    "operator_key_name_taken",
    `A live operator key has the name "${name}". Choose another name, or revoke that key first.`,
    {
      pointer: "/name",
    },
  );

/** Error for the name that is reserved for the key in BOOTSTRAP_ADMIN_KEY. */
export const operatorKeyNameReserved = (name: string) =>
  conflict("operator_key_name_taken", `The name "${name}" is reserved for the key in BOOTSTRAP_ADMIN_KEY. Choose another name.`, {
    pointer: "/name",
  });

export const lastOperatorKey = () =>
  conflict(
    "last_operator_key",
    "This is the last live operator key. Create another operator key, and use it to revoke this key.",
  );
