import { expect, test } from "vitest";
import { GrowingBuffer } from "./growing-buffer.ts";

test("GrowingBuffer returns the appended pieces in order as one buffer", () => {
  const buffer = new GrowingBuffer();
  expect(buffer.bytes()).toEqual(Buffer.alloc(0));
  for (const piece of ["a", "", "bcd", "ef"]) buffer.append(Buffer.from(piece));
  expect(buffer.bytes().toString()).toBe("abcdef");
});

test("GrowingBuffer allocates at most twice the needed bytes, and grows fewer than 20 times, for 100 000 pieces of one byte", () => {
  const buffer = new GrowingBuffer();
  const capacities = new Set<number>();
  for (let i = 0; i < 100_000; i++) {
    buffer.append(Buffer.of(i));
    capacities.add(buffer.capacity);
  }
  expect(buffer.length).toBe(100_000);
  expect(buffer.capacity).toBeLessThanOrEqual(200_000);
  expect(capacities.size).toBeLessThan(20);
  expect(buffer.bytes().every((byte, i) => byte === i % 256)).toBe(true);
});
