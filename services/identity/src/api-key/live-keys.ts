/**
 * Returns SQL that selects columns of the live keys of a business. `businessId` is SQL for the id.
 *
 * PostgreSQL reads only live keys, even if the business has many expired keys: each select is one
 * range of the index `api_key_live`. For a single select with `or`, PostgreSQL would read all keys
 * of a business if it expects few. The same holds for an `order by` in the selects, because the
 * index `api_key_newest` has that order. Callers therefore put the SQL into an array or a
 * materialized query, and sort its rows.
 */
export const liveKeysSql = (columns: string, businessId: string): string =>
  ["expires_at is null", "expires_at > statement_timestamp()"]
    .map(
      (unexpired) => `select ${columns} from api_key where business_id = ${businessId} and revoked_at is null and ${unexpired}`,
    )
    .join(" union all ");
