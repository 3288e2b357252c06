import type { ServedService } from "@amana/rpc";
import type { Message } from "./message.ts";
import type { MessageKeys } from "./message-keys.ts";

/**
 * Handles messages. Resolves when the messages have taken effect. If the handler rejects, the
 * transport delivers the messages again.
 */
export type MessageHandler = (messages: readonly Message[]) => Promise<void>;

/** Delivers messages from publishers to consumers, at least once. */
export interface Transport extends AsyncDisposable {
  /**
   * Signs and publishes messages. Resolves when the broker has stored them, or the subscribers have
   * applied them. After `signal` aborts, the caller no longer waits for the result.
   */
  publish(topic: string, messages: readonly Message[], signal?: AbortSignal): Promise<void>;
  /**
   * Subscribes a group to a topic. Every message is passed to one handler of each group. The
   * handler must verify the MACs.
   */
  subscribe(topic: string, group: string, handler: MessageHandler): Promise<void>;
  /** RPC services that the process must serve to receive messages; empty for Kafka. */
  readonly services: readonly ServedService[];
  readonly keys: MessageKeys;
}
