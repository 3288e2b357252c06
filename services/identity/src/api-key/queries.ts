import { namedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { ApiKeyColumns } from "./api-key.message.ts";

/** All keys of a business, newest first, with their number. `businessId` must be a UUID. */
export async function readApiKeys(
  em: SqlEntityManager,
  businessId: string,
  page: { limit: number; offset: number },
): Promise<{ rows: ApiKeyColumns[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    namedQuery<ApiKeyColumns>(
      em,
      "api_key_page",
      `select id, business_id as "businessId", name, prefix, created_at as "createdAt",
         last_used_at as "lastUsedAt", expires_at as "expiresAt", revoked_at as "revokedAt"
       from api_key where business_id = $1
       order by created_at desc, id desc limit $2 offset $3`,
      [businessId, page.limit, page.offset],
    ),
    namedQuery<{ total: number }>(em, "api_key_count", "select count(*)::integer as total from api_key where business_id = $1", [
      businessId,
    ]),
  ]);
  return { rows, total: count?.total ?? 0 };
}
