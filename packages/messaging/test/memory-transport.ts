import { uuidv7 } from "@amana/runtime";
import { testEventKeys } from "@amana/testing";
import type { Message } from "../src/index.ts";
import { createMessageKeys } from "../src/message-keys.ts";
import type { MessageHandler, Transport } from "../src/transport.ts";
import { topic } from "./database.ts";

/**
 * An in-memory transport. `published` contains the published messages. `deliver` calls the
 * handlers.
 */
export class MemoryTransport implements Transport {
  readonly published: { topic: string; message: Message }[] = [];
  /** Payload bytes of each call of `publish`. */
  readonly batchBytes: number[] = [];
  attempts = 0;
  /** Runs before each publication. If this function throws, the publication fails. */
  beforePublish: (topic: string) => Promise<void> | void = () => {};
  readonly services = [];
  readonly keys = createMessageKeys(testEventKeys(topic));
  readonly #handlers: MessageHandler[] = [];
  #arrived = Promise.withResolvers<void>();

  async publish(topic: string, messages: readonly Message[]): Promise<void> {
    this.attempts++;
    await this.beforePublish(topic);
    this.batchBytes.push(messages.reduce((sum, { payload }) => sum + payload.length, 0));
    this.published.push(...messages.map((message) => ({ topic, message })));
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }

  async subscribe(_topic: string, _group: string, handler: MessageHandler): Promise<void> {
    this.#handlers.push(handler);
  }

  /** Signs the messages and passes them to all handlers concurrently. */
  async deliver(...messages: Message[]): Promise<void> {
    await this.deliverUnsigned(...messages.map((message) => this.keys.sign(topic, message)));
  }

  async deliverUnsigned(...messages: Message[]): Promise<void> {
    await Promise.all(this.#handlers.map((handler) => handler(messages)));
  }

  /** Resolves when `count` messages have been published. Does not poll. */
  async untilPublished(count: number): Promise<void> {
    while (this.published.length < count) await this.#arrived.promise;
  }

  get bodies(): string[] {
    return this.published.map(({ message }) => Buffer.from(message.payload).toString());
  }

  get ids(): (string | undefined)[] {
    return this.published.map(({ message }) => message.headers["ce_id"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Creates a message, by default with a new event id. */
export function aMessage(body: string, { key = "k", id = uuidv7() }: { key?: string; id?: string } = {}): Message {
  return { key, payload: Buffer.from(body), headers: { ce_id: id, ce_type: "tests.v1.Test" } };
}
