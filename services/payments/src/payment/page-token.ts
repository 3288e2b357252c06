import { createHash } from "node:crypto";

/**
 * Returns the token in the addresses of a payment's result page and receipt: the SHA-256 of its
 * return token, in hexadecimal. It is as unguessable as the return token and does not reveal it.
 * Payments of earlier versions have one too.
 */
export const pageTokenOf = (returnToken: string): string => createHash("sha256").update(returnToken).digest("hex");

/** SQL expression of `pageTokenOf` for a row of the table payment. The expression has an index. */
export const pageTokenSql = "encode(sha256(return_token::bytea), 'hex')";

/**
 * SQL of the id of the payment with a page token, to which conditions can be appended. It reads the
 * view, because under row-level security PostgreSQL does not use the index of an expression.
 */
export const selectIdByPageToken = (parameter: string): string =>
  `select id from payment_of_tenants where ${pageTokenSql} = ${parameter}`;

/**
 * Pattern of a page token, checked before each query: PostgreSQL rejects some texts, such as with
 * NUL.
 */
export const pageTokenForm = /^[0-9a-f]{64}$/;
