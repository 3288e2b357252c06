import { uuidv7 } from "@amana/runtime";
import { expect, test } from "vitest";
import type { Message } from "./index.ts";
import { createMessageKeys } from "./message-keys.ts";

const key = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
const keys = createMessageKeys({ "a.v1": [key("new", 1), key("old", 2)], "b.v1": [key("new", 1)] });
const message: Message = {
  key: "k",
  payload: Buffer.from("payload"),
  headers: { ce_id: uuidv7(), ce_type: "t", traceparent: "00-1-2-01" },
};

test("`verify` of MessageKeys returns a signed message without its MAC and otherwise unchanged", () => {
  const signed = keys.sign("a.v1", message);
  expect(signed.headers["amana-mac"]).toMatch(/^new:[\w-]{43}$/);
  expect(keys.verify("a.v1", signed)).toEqual(message);
});

test("`verify` of MessageKeys accepts a message that was signed with any MAC key of the topic", () => {
  const oldKeys = createMessageKeys({ "a.v1": [key("old", 2)] });
  expect(keys.verify("a.v1", oldKeys.sign("a.v1", message))).toEqual(message);
  expect(oldKeys.verify("a.v1", keys.sign("a.v1", message))).toBeUndefined();
});

test("`verify` of MessageKeys rejects a message with a changed topic, partition key, header, payload or MAC", () => {
  const signed = keys.sign("a.v1", message);
  const { ce_type: _, ...fewer } = signed.headers;
  const forged: Message[] = [
    { ...signed, key: "l" },
    { ...signed, payload: Buffer.from("payloae") },
    { ...signed, payload: Buffer.alloc(0) },
    { ...signed, headers: { ...signed.headers, ce_id: uuidv7() } },
    { ...signed, headers: { ...signed.headers, extra: "" } },
    { ...signed, headers: fewer },
    { ...signed, headers: { ...signed.headers, "amana-mac": `old:${signed.headers["amana-mac"]?.split(":")[1]}` } },
    { ...signed, headers: { ...signed.headers, "amana-mac": "new:" } },
    message,
  ];
  for (const tampered of forged) expect(keys.verify("a.v1", tampered)).toBeUndefined();
  expect(keys.verify("b.v1", signed)).toBeUndefined();
  expect(keys.verify("c.v1", signed)).toBeUndefined();
});

test("`verify` of MessageKeys rejects a message if bytes were moved from the start of its payload to the end of its partition key", () => {
  const signed = keys.sign("a.v1", { key: "k", payload: Buffer.from("\nxy"), headers: { a: "b" } });
  expect(keys.verify("a.v1", { ...signed, key: "k\nx", payload: Buffer.from("y") })).toBeUndefined();
});

test("`sign` of MessageKeys throws for a topic that has no MAC key", () => {
  expect(() => keys.sign("c.v1", message)).toThrow("EVENT_MAC_KEYS");
});
