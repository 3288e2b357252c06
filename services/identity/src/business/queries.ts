import { listPage, namedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { BusinessColumns } from "./business.message.ts";

export type BusinessRow = BusinessColumns & { readonly apiKeyPrefix: string | null };

const columns = `id, name, status, organization_id as "organizationId", created_at as "createdAt", updated_at as "updatedAt",
  (select prefix from api_key
   where business_id = business.id and revoked_at is null and (expires_at is null or expires_at > now())
   order by created_at desc, id desc limit 1) as "apiKeyPrefix"`;

/** `id` must be a UUID. */
export async function readBusiness(em: SqlEntityManager, id: string): Promise<BusinessRow | undefined> {
  const [row] = await namedQuery<BusinessRow>(em, "business_read", `select ${columns} from business where id = $1`, [id]);
  return row;
}

/** A page of all businesses, newest first, and how many there are in all. */
export const readBusinesses = (
  em: SqlEntityManager,
  by: { status: string | undefined; search: string | undefined },
  page: { limit: number; offset: number },
) =>
  listPage<BusinessRow>(em, {
    table: "business",
    columns,
    filters: [
      { column: "status", is: by.status },
      { column: "lower(name)", contains: by.search },
    ],
    limit: page.limit,
    offset: page.offset,
  });
