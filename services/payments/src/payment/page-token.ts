import { createHash } from "node:crypto";

/**
 * Returns the page token, which is part of the addresses of a payment's result page and receipt. It
 * is the SHA-256 of the return token, in hexadecimal. The page token cannot be guessed and does not
 * reveal the return token. It also exists for payments that earlier versions created.
 */
export const pageTokenOf = (returnToken: string): string => createHash("sha256").update(returnToken).digest("hex");

/** SQL expression of `pageTokenOf` for a row of the table payment. The expression has an index. */
export const pageTokenSql = "encode(sha256(return_token::bytea), 'hex')";

/**
 * Returns the SQL that selects the id of the payment with a page token. The caller can append
 * conditions. The SQL reads the view, because PostgreSQL does not use the index of an expression
 * under row-level security.
 */
export const selectIdByPageToken = (parameter: string): string =>
  `select id from payment_of_tenants where ${pageTokenSql} = ${parameter}`;

/**
 * Pattern of a page token. It is checked before each query, because PostgreSQL rejects a text with
 * NUL.
 */
export const pageTokenForm = /^[0-9a-f]{64}$/;
