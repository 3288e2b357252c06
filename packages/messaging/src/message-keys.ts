import { createHmac, timingSafeEqual } from "node:crypto";
import type { EnvReader } from "@amana/runtime";
import type { Message } from "./message.ts";

/**
 * The keys of each topic that a service emits or consumes. Messages are signed with the first key
 * of the topic and verified with all keys.
 */
export type MessageKeyring = Readonly<Record<string, readonly MessageKey[]>>;

interface MessageKey {
  readonly id: string;
  readonly key: Uint8Array;
}

/** Signs published messages and verifies received messages. */
export interface MessageKeys {
  hasKeyFor(topic: string): boolean;
  /** Returns the message with its MAC in the headers. Throws for a topic without a key. */
  sign(topic: string, message: Message): Message;
  /** Returns the message without its MAC, or undefined if the MAC is missing or invalid. */
  verify(topic: string, message: Message): Message | undefined;
}

const macHeader = "amana-mac";
const keyBytes = 32;
const idLengthMax = 32;

/** Reads EVENT_MAC_KEYS: "topic=id:base64 of 32 bytes", comma-separated. Each topic needs a key. */
export function readMessageKeys(env: EnvReader, topics: readonly string[]): MessageKeyring {
  const ring: Record<string, MessageKey[]> = {};
  // A problem reports the number of an entry and not its text, because the text is a secret.
  for (const [i, entry] of env.list("EVENT_MAC_KEYS").entries()) {
    const [, topic = "", id = "", text = ""] = /^([^=:]+)=([\w-]+):([A-Za-z0-9+/_=-]+)$/.exec(entry) ?? [];
    const key = Buffer.from(text, "base64");
    if (topic === "" || id.length > idLengthMax || key.length !== keyBytes) {
      env.problem(`EVENT_MAC_KEYS: entry ${i + 1} must be topic=id:key with a key of ${keyBytes} bytes in base64`);
      continue;
    }
    const keys = ring[topic] ?? [];
    ring[topic] = keys;
    if (keys.some((existing) => existing.id === id)) env.problem(`EVENT_MAC_KEYS has two keys with the id "${id}" for ${topic}`);
    keys.push({ id, key });
  }
  if (env.isProduction) rejectSharedKeys(env, ring);
  for (const topic of topics) {
    if (!ring[topic]) env.problem(`EVENT_MAC_KEYS has no key for ${topic}; create one with: openssl rand -base64 ${keyBytes}`);
  }
  return ring;
}

/**
 * Rejects a key that two topics share, because a consumer of one topic could then publish to the
 * other topic.
 */
function rejectSharedKeys(env: EnvReader, ring: MessageKeyring): void {
  const topicOf = new Map<string, string>();
  for (const [topic, keys] of Object.entries(ring)) {
    for (const { key } of keys) {
      const text = Buffer.from(key).toString("base64");
      const otherTopic = topicOf.get(text) ?? topic;
      topicOf.set(text, otherTopic);
      if (otherTopic !== topic)
        env.problem(`EVENT_MAC_KEYS has the same key for ${otherTopic} and ${topic}; create one for each topic`);
    }
  }
}

/**
 * Creates the functions that sign and verify messages with a MAC over topic, key, headers and
 * payload (HMAC-SHA256). A program that can reach the broker or a consumer, but has no key, cannot
 * forge an event. It also cannot change the topic, key or id of an event. The keys are symmetric,
 * so a consumer of a topic could also sign messages.
 */
export function createMessageKeys(ring: MessageKeyring): MessageKeys {
  return {
    hasKeyFor: (topic) => ring[topic] !== undefined,
    sign(topic, message) {
      const signingKey = ring[topic]?.[0];
      if (!signingKey) throw new Error(`EVENT_MAC_KEYS has no key to sign messages of ${topic}: add one`);
      const mac = macOf(signingKey.key, topic, message).toString("base64url");
      return { ...message, headers: { ...message.headers, [macHeader]: `${signingKey.id}:${mac}` } };
    },
    verify(topic, message) {
      const { [macHeader]: header = "", ...headers } = message.headers;
      const [id = "", text = ""] = header.split(":", 2);
      const verifyingKey = ring[topic]?.find((key) => key.id === id);
      if (!verifyingKey) return undefined;
      const unsigned = { key: message.key, payload: message.payload, headers };
      const expected = macOf(verifyingKey.key, topic, unsigned);
      const mac = Buffer.from(text, "base64url");
      return mac.length === expected.length && timingSafeEqual(mac, expected) ? unsigned : undefined;
    },
  };
}

/**
 * Computes the MAC. JSON delimits the fields and contains no raw line feed, so no character can
 * move from one field to another or into the payload.
 */
function macOf(key: Uint8Array, topic: string, { key: messageKey, headers, payload }: Message): Buffer {
  const names = Object.keys(headers).sort();
  const text = JSON.stringify([topic, messageKey, names.map((name) => [name, headers[name]])]);
  return createHmac("sha256", key).update(`${text}\n`).update(payload).digest();
}
