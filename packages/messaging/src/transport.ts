import type { ServedService } from "@amana/rpc";
import type { Message } from "./message.ts";
import type { MessageKeys } from "./message-keys.ts";

/**
 * Handles messages. Resolves when they have taken effect. If it rejects, they are delivered again.
 */
export type MessageHandler = (messages: readonly Message[]) => Promise<void>;

/** Delivers messages from publishers to consumers, at least once. */
export interface Transport extends AsyncDisposable {
  /**
   * Signs and publishes messages. Resolves when the broker has stored them, or the subscribers have
   * applied them. After `signal` aborts, the caller no longer waits for the result.
   */
  publish(topic: string, messages: readonly Message[], signal?: AbortSignal): Promise<void>;
  /** Passes every message to `handler`, once for each group. The handler verifies the MACs. */
  subscribe(topic: string, group: string, handler: MessageHandler): Promise<void>;
  /** RPC services that the process must serve to receive messages; empty for Kafka. */
  readonly services: readonly ServedService[];
  readonly keys: MessageKeys;
}
