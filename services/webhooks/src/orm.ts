import { join } from "node:path";
import { partitionMigrations, readMigrations, tenantMigrations } from "@amana/database";
import { IdempotencyRecord, idempotencyMigrations } from "@amana/idempotency";
import { inboxMigrations, OutboxMessage, outboxMigrations } from "@amana/messaging";
import { WebhookReplay } from "./replay/webhook-replay.ts";
import { WebhookEndpoint } from "./webhook-endpoint/webhook-endpoint.ts";

export const database = {
  entities: [WebhookEndpoint, WebhookReplay, OutboxMessage, IdempotencyRecord],
  migrations: [
    ...partitionMigrations,
    ...tenantMigrations,
    ...outboxMigrations,
    ...inboxMigrations,
    ...idempotencyMigrations,
    ...readMigrations(join(import.meta.dirname, "..", "migrations")),
  ],
};
