import { hash } from "node:crypto";

/**
 * Returns the page token, which is part of the addresses of a payment's result page and receipt. It
 * is the SHA-256 of the return token, in hexadecimal. The page token cannot be guessed and does not
 * reveal the return token. Payments that earlier versions created also have a page token.
 */
export const pageTokenOf = (returnToken: string): string => hash("sha256", returnToken, "hex");

/**
 * SQL expression with the result of `pageTokenOf` for a row of the table `payment`. An index on
 * this expression exists.
 */
export const pageTokenSql = "encode(sha256(return_token::bytea), 'hex')";

/**
 * Returns the SQL that selects the id of the payment with a page token. `placeholder` is the query
 * parameter of the token, for example `$2`. The caller can append conditions. The SQL reads the
 * view `payment_of_tenants`, because PostgreSQL does not use an index on an expression under
 * row-level security.
 */
export const idByPageTokenSql = (placeholder: string): string =>
  `select id from payment_of_tenants where ${pageTokenSql} = ${placeholder}`;

/**
 * Pattern of a page token. The token is checked before each query, because PostgreSQL rejects a
 * text with a NUL character.
 */
export const pageTokenPattern = /^[0-9a-f]{64}$/;
