import { join } from "node:path";
import { readMigrations } from "@amana/database";

/** What a service with keyed calls lists before its own. */
export const idempotencyMigrations = readMigrations(join(import.meta.dirname, "..", "migrations"));
