import { join } from "node:path";
import { partitionMigrations, readMigrations, tenantMigrations } from "@amana/database";
import { IdempotencyRecord, idempotencyMigrations } from "@amana/idempotency";
import { inboxMigrations, OutboxMessage, outboxMigrations } from "@amana/messaging";
import { Account } from "./account/account.ts";
import { AccountPosting } from "./account/account-posting.ts";
import { Beneficiary } from "./beneficiary/beneficiary.ts";
import { Client } from "./client/client.ts";
import { Onboarding } from "./onboarding/onboarding.ts";
import { OnboardingDetails } from "./onboarding/onboarding-details.ts";

export const database = {
  entities: [OutboxMessage, IdempotencyRecord, Client, Onboarding, OnboardingDetails, Beneficiary, Account, AccountPosting],
  migrations: [
    ...partitionMigrations,
    ...tenantMigrations,
    ...outboxMigrations,
    ...inboxMigrations,
    ...idempotencyMigrations,
    ...readMigrations(join(import.meta.dirname, "..", "migrations")),
  ],
};
