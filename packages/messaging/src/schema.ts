import { join } from "node:path";
import { readMigrations, type StuckRows } from "@amana/database";

const folder = join(import.meta.dirname, "..", "migrations");

/** Migrations of a service that emits events. It lists them before its own. */
export const outboxMigrations = readMigrations(folder, "outbox-");
/** Migrations of a service that consumes events. It lists them before its own. */
export const inboxMigrations = readMigrations(folder, "inbox-");

/** Events that are not published half a minute after their commit. */
export const stuckOutboxRows: readonly StuckRows[] = [
  {
    what: "events that are not published",
    table: "outbox_waiting",
    where: "created_at < now() - interval '30 seconds'",
    since: "created_at",
    todo: "They are published by themselves once this service runs and reaches Kafka: its log says why they are not.",
  },
];

/** Dead letters that need an operator. */
export const stuckInboxRows: readonly StuckRows[] = [
  {
    what: "events that fail again and again, or of a type that this version does not know",
    table: "dead_letter",
    where: "status in ('RETRYING', 'WAITING') and created_at < now() - interval '10 minutes'",
    since: "created_at",
    todo: "Fix what their reason names: amana dead-letters list. They are retried by themselves.",
  },
  {
    what: "events whose last retry failed (PARKED)",
    table: "dead_letter",
    where: "status = 'PARKED'",
    since: "created_at",
    todo: "amana dead-letters show ID; fix the cause; then amana dead-letters retry ID, or drop ID --reason.",
  },
];
