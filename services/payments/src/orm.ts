import { IdempotencyRecord } from "@amana/idempotency";
import { OutboxMessage } from "@amana/messaging";
import { migrations } from "../migrations/index.ts";
import { Payment } from "./payment/payment.ts";
import { Refund } from "./refund/refund.ts";

export const database = { entities: [Payment, Refund, OutboxMessage, IdempotencyRecord], migrations };
