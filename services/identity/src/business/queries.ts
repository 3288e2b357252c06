import { namedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { BusinessColumns } from "./business.message.ts";
import type { BusinessStatus } from "./business.ts";

export type BusinessRow = BusinessColumns & { readonly apiKeyPrefix: string | null };

const selectBusiness = `
  select b.id, b.name, b.status, b.organization_id as "organizationId",
    b.created_at as "createdAt", b.updated_at as "updatedAt", newest.prefix as "apiKeyPrefix"
  from business b
  left join lateral (
    select prefix from api_key
    where business_id = b.id and revoked_at is null and (expires_at is null or expires_at > now())
    order by created_at desc, id desc
    limit 1
  ) newest on true`;

/** `id` must be a UUID. */
export async function readBusiness(em: SqlEntityManager, id: string): Promise<BusinessRow | undefined> {
  const [row] = await namedQuery<BusinessRow>(em, "business_by_id", `${selectBusiness} where b.id = $1`, [id]);
  return row;
}

// strpos takes %, _ and \ literally.
const matches = `
  where ($1::text is null or b.status = $1) and ($2::text is null or strpos(lower(b.name), lower($2)) > 0)`;

/** Newest first, with the number of all that match. */
export async function readBusinesses(
  em: SqlEntityManager,
  filter: { status: BusinessStatus | undefined; search: string | undefined },
  page: { limit: number; offset: number },
): Promise<{ rows: BusinessRow[]; total: number }> {
  const values = [filter.status ?? null, filter.search ?? null];
  const [rows, [count]] = await Promise.all([
    namedQuery<BusinessRow>(
      em,
      "business_page",
      `${selectBusiness} ${matches} order by b.created_at desc, b.id desc limit $3 offset $4`,
      [...values, page.limit, page.offset],
    ),
    namedQuery<{ total: number }>(em, "business_count", `select count(*)::integer as total from business b ${matches}`, values),
  ]);
  return { rows, total: count?.total ?? 0 };
}
