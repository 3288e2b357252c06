/** Events between services: outbox, relay, inbox, consumers, over Kafka or straight to the consumer. */
export { type Consumption, consume, type Effect } from "./consume.ts";
export { inboxTablesSql } from "./inbox.ts";
export type { Message, MessageHandler, Transport } from "./message.ts";
export { addToOutbox, OutboxMessage, outboxTableSql } from "./outbox.ts";
export { type Action, recordAction } from "./record-action.ts";
export { type Relay, startRelay } from "./relay.ts";
export { createTransport, readTransportOptions, type TransportOptions } from "./transport.ts";
