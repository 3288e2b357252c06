import { join } from "node:path";
import { readMigrations } from "@amana/database";

const folder = join(import.meta.dirname, "..", "migrations");

/** What a service that emits events lists before its own. */
export const outboxMigrations = readMigrations(folder, "outbox-");
/** What a service that consumes events lists before its own. */
export const inboxMigrations = readMigrations(folder, "inbox-");
