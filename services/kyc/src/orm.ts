import { IdempotencyRecord } from "@amana/idempotency";
import { OutboxMessage } from "@amana/messaging";
import { migrations } from "../migrations/index.ts";
import { KycApplication } from "./kyc-application/kyc-application.ts";

export const database = { entities: [KycApplication, OutboxMessage, IdempotencyRecord], migrations };
