import type { Orm } from "@amana/database";
import type { Logger } from "@amana/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createAuthentication } from "./authenticate.ts";
import type { Message } from "./message.ts";
import type { MessageKeys } from "./message-keys.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("createAuthentication logs at most one alert a minute, with the number of rejected messages", async () => {
  const counts: number[] = [];
  const logger = { error: ({ count }: { count: number }) => counts.push(count) } as unknown as Logger;
  const keys = { verify: (_topic, message) => (message.key === "good" ? message : undefined) } as MessageKeys;
  const authenticate = createAuthentication({} as Orm, "tests.v1", keys, logger);
  const aMessage = (key: string): Message => ({ key, payload: Buffer.alloc(0), headers: {} });
  const receive = async (...messageKeys: string[]) => await authenticate(messageKeys.map(aMessage));

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
