/** Thrown if a body is larger than the limit. */
export class BodyTooLarge extends Error {}

/** Reads a complete body. Throws BodyTooLarge if it has more than `max` bytes. */
export async function readBytes(source: AsyncIterable<Buffer>, max: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > max) throw new BodyTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
