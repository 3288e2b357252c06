import { createHash } from "node:crypto";

const id = "test";
const keyOf = (topic: string): Uint8Array => createHash("sha256").update(topic).digest();

/** Returns a MAC key for each topic. Services in tests share these keys. */
export const testEventKeys = (...topics: string[]) =>
  Object.fromEntries(topics.map((topic) => [topic, [{ id, key: keyOf(topic) }]]));

/**
 * Returns event settings for these topics. No service listens at the address of the subscribers, so
 * no service receives the events unless a test overrides the address.
 */
export const testEventSettings = (...topics: string[]) => ({
  EVENTS: "direct",
  EVENT_MAC_KEYS: topics.map((topic) => `${topic}=${id}:${Buffer.from(keyOf(topic)).toString("base64")}`).join(","),
  DIRECT_SUBSCRIBERS: topics.map((topic) => `${topic}=http://127.0.0.1:9`).join(","),
});
