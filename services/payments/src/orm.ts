import { join } from "node:path";
import { partitionMigrations, readMigrations, tenantMigrations } from "@amana/database";
import { IdempotencyRecord, idempotencyMigrations } from "@amana/idempotency";
import { OutboxMessage, outboxMigrations } from "@amana/messaging";
import { ProcessorCall } from "./card-processor/processor-call.ts";
import { Payment } from "./payment/payment.ts";
import { PaymentLink } from "./payment-link/payment-link.ts";
import { ReceiptMail } from "./receipt/receipt-mail.ts";
import { Refund } from "./refund/refund.ts";

export const database = {
  entities: [Payment, PaymentLink, Refund, ProcessorCall, ReceiptMail, OutboxMessage, IdempotencyRecord],
  migrations: [
    ...partitionMigrations,
    ...tenantMigrations,
    ...outboxMigrations,
    ...idempotencyMigrations,
    ...readMigrations(join(import.meta.dirname, "..", "migrations")),
  ],
};
