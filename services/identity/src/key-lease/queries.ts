import { preparedQuery } from "@amana/database";
import { isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { BusinessStatus } from "../business/business.ts";

export interface FoundKey {
  /**
   * Null if no key has the requested hash. In this case, all other nullable fields are also null.
   */
  readonly id: string | null;
  readonly prefix: string | null;
  readonly isAdmin: boolean;
  readonly isRevoked: boolean;
  readonly businessId: string | null;
  readonly businessStatus: BusinessStatus | null;
  readonly organizationId: number | null;
  /** Null if the key does not expire. */
  readonly expiresInMs: number | null;
  /** Null if all addresses are permitted. */
  readonly allowedIps: string[] | null;
  /** Whether the stored last use is absent or older than a minute. False if no key has the hash. */
  readonly isUseDue: boolean;
}

/** Returns one result for each hash, in the order of `hashes`. */
export async function findKeys(em: SqlEntityManager, hashes: readonly Uint8Array[]): Promise<FoundKey[]> {
  return await preparedQuery<FoundKey>(
    em,
    `select coalesce(k.id, a.id) as id, coalesce(k.prefix, a.prefix) as prefix, a.id is not null as "isAdmin",
       coalesce(k.revoked_at, a.revoked_at) is not null as "isRevoked",
       k.business_id as "businessId", b.status as "businessStatus", b.organization_id as "organizationId",
       floor(extract(epoch from k.expires_at - clock_timestamp()) * 1000)::double precision as "expiresInMs",
       k.allowed_ips as "allowedIps",
       coalesce(k.id, a.id) is not null
         and coalesce(k.last_used_at, a.last_used_at, '-infinity') < now() - interval '1 minute' as "isUseDue"
     from unnest($1::bytea[]) with ordinality as requested (hash, position)
     left join lateral (
       select * from api_key where hash = requested.hash
       union all
       select * from api_key where restricted_hash = requested.hash
     ) k on true
     left join business b on b.id = k.business_id
     left join admin_key a on a.hash = requested.hash
     order by requested.position`,
    [hashes.map((hash) => Buffer.from(hash))],
  );
}

/** Returns the name and status of a business, or undefined if `id` is unknown or is not a UUID. */
export async function findBusiness(
  em: SqlEntityManager,
  id: string,
): Promise<{ name: string; status: BusinessStatus } | undefined> {
  if (!isUuid(id)) return undefined;
  const [business] = await preparedQuery<{ name: string; status: BusinessStatus }>(
    em,
    "select name, status from business where id = $1",
    [id],
  );
  return business;
}

/**
 * Sets the last use of each key whose stored value is absent or older than a minute. Skips keys
 * that another transaction has locked.
 */
export async function recordKeyUse(em: SqlEntityManager, keyIds: readonly string[]): Promise<void> {
  await preparedQuery(em, `with used_api_key as (${buildUseUpdate("api_key")}) ${buildUseUpdate("admin_key")}`, [keyIds]);
}

const buildUseUpdate = (table: "api_key" | "admin_key") => `update ${table} set last_used_at = now() where id in (
    select id from ${table}
    where id = any($1::uuid[]) and (last_used_at is null or last_used_at < now() - interval '1 minute')
    for no key update skip locked
  )`;
