import { createHash } from "node:crypto";

const id = "test";
const keyOf = (topic: string): Uint8Array => createHash("sha256").update(topic).digest();

/** A key for each of the topics, as services in tests share them. */
export const testEventKeys = (...topics: string[]) =>
  Object.fromEntries(topics.map((topic) => [topic, [{ id, key: keyOf(topic) }]]));

/** Settings for these topics; unless they are overridden, events reach nobody. */
export const testEventSettings = (...topics: string[]) => ({
  EVENTS: "direct",
  EVENT_MAC_KEYS: topics.map((topic) => `${topic}=${id}:${Buffer.from(keyOf(topic)).toString("base64")}`).join(","),
  DIRECT_SUBSCRIBERS: topics.map((topic) => `${topic}=http://127.0.0.1:9`).join(","),
});
