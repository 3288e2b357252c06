import type { Orm } from "@amana/database";
import type { Logger } from "@amana/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createForgedMessages } from "./forged-messages.ts";
import type { Message } from "./message.ts";
import type { MessageKeys } from "./message-keys.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("each forged message is counted in an alert, of which there is one a minute at most", async () => {
  const counts: number[] = [];
  const logger = { error: ({ count }: { count: number }) => counts.push(count) } as unknown as Logger;
  const keys = { verify: (_topic, message) => (message.key === "good" ? message : undefined) } as MessageKeys;
  const forged = createForgedMessages({} as Orm, { topic: "tests.v1", consumer: "tests" }, logger);
  // Too large to be kept, so that no database is needed.
  const aMessage = (key: string): Message => ({ key, payload: Buffer.alloc(400 * 1024), headers: {} });
  const receive = async (...given: string[]) => await forged.setAside(given.map(aMessage), keys);

  await receive("forged");
  expect(counts).toEqual([1]);
  for (let i = 0; i < 5; i++) await receive("forged", "good");
  expect(counts).toEqual([1]);
  vi.advanceTimersByTime(61_000);
  expect(await receive("good")).toHaveLength(1);
  expect(counts).toEqual([1, 5]);
  await receive("forged");
  vi.advanceTimersByTime(61_000);
  await receive("forged");
  expect(counts).toEqual([1, 5, 2]);
});
