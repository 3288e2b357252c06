import { GrowingBuffer } from "./growing-buffer.ts";

/** Thrown when a body has more bytes than the limit. */
export class BodyTooLarge extends Error {}

/** Reads a body from an external system. Throws BodyTooLarge above `bytesMax` bytes. */
export async function readBytes(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const bytes = new GrowingBuffer();
  for await (const chunk of body) {
    if (bytes.length + chunk.length > bytesMax) throw new BodyTooLarge("the body is too large");
    bytes.append(chunk);
  }
  return bytes.bytes();
}

export const readText = async (body: AsyncIterable<Buffer>, bytesMax: number): Promise<string> =>
  (await readBytes(body, bytesMax)).toString("utf8");
