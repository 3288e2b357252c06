import { IdempotencyRecord } from "@amana/idempotency";
import { OutboxMessage } from "@amana/messaging";
import { migrations } from "../migrations/index.ts";
import { WebhookEndpoint } from "./webhook-endpoint/webhook-endpoint.ts";

export const database = { entities: [WebhookEndpoint, OutboxMessage, IdempotencyRecord], migrations };
