/**
 * Returns SQL that selects columns of the live keys of a business. `businessId` is SQL for the id.
 *
 * Each of the two selects reads one range of the index `api_key_live`. PostgreSQL therefore reads
 * only live keys, even if the business has many expired keys. If PostgreSQL expects few keys of a
 * business, it would read all of them for a single select with `or`. It would also read all of them
 * for selects with an `order by`, because the index `api_key_newest` has that order. Callers
 * therefore put the SQL into an array or a materialized query, and sort the rows outside.
 */
export const liveKeysSql = (columns: string, businessId: string): string =>
  ["expires_at is null", "expires_at > statement_timestamp()"]
    .map(
      (unexpired) => `select ${columns} from api_key where business_id = ${businessId} and revoked_at is null and ${unexpired}`,
    )
    .join(" union all ");
