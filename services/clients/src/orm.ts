import { IdempotencyRecord } from "@amana/idempotency";
import { OutboxMessage } from "@amana/messaging";
import { migrations } from "../migrations/index.ts";
import { Account } from "./account/account.ts";
import { AccountPosting } from "./account/account-posting.ts";
import { Beneficiary } from "./beneficiary/beneficiary.ts";
import { Client } from "./client/client.ts";
import { Onboarding } from "./onboarding/onboarding.ts";
import { OnboardingDetails } from "./onboarding/onboarding-details.ts";

export const database = {
  entities: [OutboxMessage, IdempotencyRecord, Client, Onboarding, OnboardingDetails, Beneficiary, Account, AccountPosting],
  migrations,
};
