import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { BodyTooLarge, readBytes } from "./read-body.ts";

const bodyOf = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

test("readBytes returns a body of exactly the maximum size, and throws BodyTooLarge for one more byte", async () => {
  expect(String(await readBytes(bodyOf("ab", "cd"), 4))).toBe("abcd");
  await expect(readBytes(bodyOf("ab", "cde"), 4)).rejects.toThrow(BodyTooLarge);
});
