/** Executes a request once per Idempotency-Key and stores its response in the same transaction. */
export { attachKey, claimKey, lockKey } from "./claim-key.ts";
export { cleanKeys } from "./clean-keys.ts";
export { idempotencyMigrations } from "./migrations.ts";
export { once } from "./once.ts";
export { IdempotencyRecord } from "./record.ts";
export { idempotencyInProgress } from "./refusals.ts";
