import { join } from "node:path";
import { readMigrations } from "@amana/database";

/** Migrations that a service with Idempotency-Keys lists before its own. */
export const idempotencyMigrations = readMigrations(join(import.meta.dirname, "..", "migrations"));
