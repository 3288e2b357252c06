import { join } from "node:path";
import { partitionMigrations, readMigrations, tenantMigrations } from "@amana/database";
import { IdempotencyRecord, idempotencyMigrations } from "@amana/idempotency";
import { inboxMigrations } from "@amana/messaging";
import { AdminKey } from "./admin-key/admin-key.ts";
import { ApiKey } from "./api-key/api-key.ts";
import { AuditEvent } from "./audit/audit-event.ts";
import { Business } from "./business/business.ts";
import { Invitation } from "./invitation/invitation.ts";

export const database = {
  entities: [Business, ApiKey, AdminKey, AuditEvent, Invitation, IdempotencyRecord],
  migrations: [
    ...partitionMigrations,
    ...tenantMigrations,
    ...inboxMigrations,
    ...idempotencyMigrations,
    ...readMigrations(join(import.meta.dirname, "..", "migrations")),
  ],
};
