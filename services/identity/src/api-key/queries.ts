import { listPage } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { ApiKeyColumns } from "./api-key.message.ts";

const columns = `id, business_id as "businessId", name, prefix, created_at as "createdAt", last_used_at as "lastUsedAt",
  expires_at as "expiresAt", revoked_at as "revokedAt"`;

/** A page of a business's keys, newest first, and how many there are in all. `businessId` must be a UUID. */
export const readApiKeys = (em: SqlEntityManager, businessId: string, page: { limit: number; offset: number }) =>
  listPage<ApiKeyColumns>(em, {
    table: "api_key",
    columns,
    businessId,
    filters: [],
    limit: page.limit,
    offset: page.offset,
  });
