/** More came than is taken. */
export class TooLong extends Error {}

/** All of a body, byte for byte. Throws TooLong beyond `max`. */
export async function readBytes(source: AsyncIterable<Buffer>, max: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > max) throw new TooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
