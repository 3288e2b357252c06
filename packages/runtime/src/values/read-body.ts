import { GrowingBuffer } from "./growing-buffer.ts";

/** Reads a body from an external system. Throws when it has more than `bytesMax` bytes. */
export async function readBytes(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const bytes = new GrowingBuffer();
  for await (const chunk of body) {
    if (bytes.length + chunk.length > bytesMax) throw new Error("the response is too large");
    bytes.append(chunk);
  }
  return bytes.bytes();
}

export const readText = async (body: AsyncIterable<Buffer>, bytesMax: number): Promise<string> =>
  (await readBytes(body, bytesMax)).toString("utf8");
