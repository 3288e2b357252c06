import { join } from "node:path";
import { readMigrations, type StuckRows } from "@amana/database";

const folder = join(import.meta.dirname, "..", "migrations");

/** Migrations of the outbox. A service that emits events lists them before its own migrations. */
export const outboxMigrations = readMigrations(folder, "outbox-");
/** Migrations of the inbox. A service that consumes events lists them before its own migrations. */
export const inboxMigrations = readMigrations(folder, "inbox-");

/** Events that are not published 30 seconds after their commit. */
export const stuckOutboxRows: readonly StuckRows[] = [
  {
    what: "events that are not published",
    table: "outbox_waiting",
    where: "created_at < now() - interval '30 seconds'",
    since: "created_at",
    todo: "Check that the service runs and reaches Kafka; its log contains the cause. The service then publishes the events automatically.",
  },
];

/** Dead-lettered messages that an operator must inspect. */
export const stuckInboxRows: readonly StuckRows[] = [
  {
    what: "events that fail repeatedly, or whose type this version does not support",
    table: "dead_letter",
    where: "status in ('RETRYING', 'WAITING') and created_at < now() - interval '10 minutes'",
    since: "created_at",
    todo: "Find the reason with amana dead-letters list and fix the cause. The service retries the events automatically.",
  },
  {
    what: "events whose last retry failed (PARKED)",
    table: "dead_letter",
    where: "status = 'PARKED'",
    since: "created_at",
    todo: "Find the reason with amana dead-letters show ID and fix the cause. Then run amana dead-letters retry ID, or drop ID --reason.",
  },
];
