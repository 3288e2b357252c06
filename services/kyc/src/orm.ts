import { join } from "node:path";
import { partitionMigrations, readMigrations, tenantMigrations } from "@amana/database";
import { IdempotencyRecord, idempotencyMigrations } from "@amana/idempotency";
import { OutboxMessage, outboxMigrations } from "@amana/messaging";
import { KycApplication } from "./kyc-application/kyc-application.ts";

export const database = {
  entities: [KycApplication, OutboxMessage, IdempotencyRecord],
  migrations: [
    ...partitionMigrations,
    ...tenantMigrations,
    ...outboxMigrations,
    ...idempotencyMigrations,
    ...readMigrations(join(import.meta.dirname, "..", "migrations")),
  ],
};
