const key = { id: "test", key: Buffer.alloc(32, 2) as Uint8Array };

/** A key for each of the topics, as services in tests share them. */
export const testEventKeys = (...topics: string[]) => Object.fromEntries(topics.map((topic) => [topic, [key]]));

/** Settings for these topics; unless they are overridden, events reach nobody. */
export const testEventSettings = (...topics: string[]) => ({
  EVENTS: "direct",
  EVENT_MAC_KEYS: topics.map((topic) => `${topic}=${key.id}:${Buffer.from(key.key).toString("base64")}`).join(","),
  DIRECT_SUBSCRIBERS: topics.map((topic) => `${topic}=http://127.0.0.1:9`).join(","),
});
