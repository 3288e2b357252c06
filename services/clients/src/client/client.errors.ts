import { conflict, invalid, notFound } from "@amana/rpc";

export const clientNotFound = () => notFound("not_found", "There is no client with this id. Check the id.");

/**
 * `pointer` is the JSON pointer to the client id in the request body. The pointer must be empty if
 * the client id is a query parameter.
 */
export const referencedClientNotFound = (pointer = "/client_id") =>
  notFound("client_not_found", "There is no client with this client_id. Check the id.", { pointer });

/**
 * `pointer` is the JSON pointer to the client id in the request body. The pointer must be empty if
 * the request names an account, not a client.
 */
export const clientBlocked = (pointer = "/client_id") =>
  conflict("client_blocked", "The client is blocked. Unblock the client, then send the request again.", { pointer });

export const emailTaken = () =>
  conflict("email_taken", "Another client of this business has this e-mail address. Use that client, or send another address.", {
    pointer: "/email",
  });

export const clientUnderage = () =>
  invalid(
    "client_underage",
    "A client must be 18 or older today, in UTC. Check the date of birth, or send the request after the birthday.",
    { pointer: "/date_of_birth" },
  );
