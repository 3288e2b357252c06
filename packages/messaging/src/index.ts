/** Events between services: outbox, relay, inbox and consumers, over Kafka or RPC. */
export { consume } from "./consume.ts";
export { createTransport, eventRetrySeconds, readTransportOptions } from "./create-transport.ts";
export { deadLetterService } from "./dead-letter-service.ts";
export type { Effect, StatementEffect, TopicHandler } from "./effect.ts";
export { UnknownEventTypeError } from "./failure.ts";
export type { Message } from "./message.ts";
export { traceparentOf } from "./message-spans.ts";
export { showOutbox } from "./metrics.ts";
export { addToOutbox, OutboxMessage, republish } from "./outbox.ts";
export { type Action, byCaller, byPlatform, type RecordAction, recordAction } from "./record-action.ts";
export { startRelay } from "./relay.ts";
export {
  type DeadLetterChange,
  deadLetterAction,
  markDropped,
  readDeadLetter,
  readDeadLetters,
  requestRetry,
  type ShownDeadLetter,
} from "./repair-dead-letters.ts";
export { inboxMigrations, outboxMigrations, stuckInboxRows, stuckOutboxRows } from "./schema.ts";
export type { Transport } from "./transport.ts";
