/** A body from outside; throws when it has more than `bytesMax` bytes. */
export async function readBytes(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
  tooLarge: () => Error = () => new Error("the answer is too large"),
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

export const readText = async (body: AsyncIterable<Buffer>, bytesMax: number): Promise<string> =>
  (await readBytes(body, bytesMax)).toString("utf8");
