import type { ServedService } from "@amana/rpc";
import type { Message } from "./message.ts";
import type { MessageKeys } from "./message-keys.ts";

/** Resolves when the messages took effect; after a rejection they are delivered again. */
export type MessageHandler = (messages: readonly Message[]) => Promise<void>;

/** How messages get from here to there, at least once. */
export interface Transport extends AsyncDisposable {
  /** Signs the messages; resolves when they are safe there. `signal`: nobody waits any more. */
  publish(topic: string, messages: readonly Message[], signal?: AbortSignal): Promise<void>;
  /** Every group sees every message, authentic or not. */
  subscribe(topic: string, group: string, handler: MessageHandler): Promise<void>;
  /** RPC services that have to be served for messages to arrive; empty for Kafka. */
  readonly services: readonly ServedService[];
  readonly keys: MessageKeys;
}
