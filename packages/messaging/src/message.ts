import { isUuid } from "@amana/runtime";

/** A message with the headers of CloudEvents 1.0 (Kafka protocol binding, binary mode). */
export interface Message {
  /** Id of the subject of the message. Kafka keeps the messages of a key in one partition. */
  readonly key: string;
  readonly payload: Uint8Array;
  /** ce_id, ce_type, ce_source, ce_time and traceparent; signed messages also have amana-mac. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A topic and one of its consumers. */
export interface Subscription {
  readonly topic: string;
  /** Name of the consumer in its inbox and its Kafka group, for example "webhooks". */
  readonly consumer: string;
}

/**
 * Returns the event's id in lower case, as PostgreSQL writes it. With another spelling, a repeated
 * message would not be detected. Returns undefined if the id is missing or not a UUID.
 */
export function eventIdOf(message: Message): string | undefined {
  const id = message.headers["ce_id"];
  return isUuid(id) ? id.toLowerCase() : undefined;
}

/** Formats ids as a PostgreSQL array literal. */
export const uuidArray = (ids: readonly string[]): string => `{${ids.join(",")}}`;
