import { isUuid } from "@amana/runtime";

/** A message as it travels: CloudEvents 1.0 as headers (Kafka binding, binary mode). */
export interface Message {
  /** Id of the subject of the message. Kafka keeps the messages of a key in one partition. */
  readonly key: string;
  readonly payload: Uint8Array;
  /** ce_id, ce_type, ce_source, ce_time and traceparent; on the way also amana-mac. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A topic as one consumer sees it. */
export interface Subscription {
  readonly topic: string;
  /** Names the consumer in its inbox and towards Kafka: "webhooks". */
  readonly consumer: string;
}

/** The event's id as PostgreSQL spells it; otherwise a known message could pass for a new one. */
export function eventIdOf(message: Message): string | undefined {
  const id = message.headers["ce_id"];
  return isUuid(id) ? id.toLowerCase() : undefined;
}

/** Ids as the text of a PostgreSQL array. */
export const uuidArray = (ids: readonly string[]): string => `{${ids.join(",")}}`;
