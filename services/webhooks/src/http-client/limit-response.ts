import type { Socket } from "node:net";

const headBytesMax = 16 * 1024;
const headLinesMax = 256;
/**
 * Maximum number of bytes after the header section that the client reads. The body is only shown to
 * the business, so the rest is not needed. These bytes include the framing and the trailers of a
 * chunked body.
 */
const bodyBytesMax = 16 * 1024;
/** Number of characters of a line that suffice to detect an empty line and a final status. */
const lineStartMax = "HTTP/1.1 2".length;
const lineFeed = 0x0a;

/** Thrown for a response whose header section, or the part after it, exceeds its limit. */
export class ResponseTooLong extends Error {}

/**
 * Limits the bytes of a response that undici's parser reads from a socket. The parser needs about
 * 1 µs for each header line, and a receiver can send 30 000 lines at once. Replaces `socket.read`,
 * the only method by which undici reads, so that the limits apply before the parser runs. If the
 * header section is too large, the parser does not get the bytes that exceed the limit. If the body
 * is too large, the parser gets its first part, so that the response's status still counts. In both
 * cases, the connection is closed.
 */
export function limitResponse(socket: Socket): void {
  const read = socket.read.bind(socket);
  let writtenBytes = 0;
  let countBytes = createByteLimit();
  let isFull = false;
  const close = () => {
    socket.destroy(new ResponseTooLong());
    return null;
  };
  socket.read = (size?: number): Buffer | null => {
    const chunk: Buffer | null = read(size);
    if (isFull) return close();
    if (chunk === null) return null;
    // undici sends a request only after the previous response has ended. New written bytes
    // therefore mean that the next bytes belong to a new response.
    if (socket.bytesWritten !== writtenBytes) {
      writtenBytes = socket.bytesWritten;
      countBytes = createByteLimit();
    }
    const allowedBytes = countBytes(chunk);
    if (allowedBytes === 0) return close();
    // undici reads until `read` returns null. This next call closes the connection.
    isFull = allowedBytes < chunk.length;
    return chunk.subarray(0, allowedBytes);
  };
}

/**
 * Returns a function that gets the chunks of a response in order. For each chunk, it returns the
 * number of bytes that the parser may read. It returns 0 if the header section is too large, or if
 * earlier chunks have used up `bodyBytesMax`. Interim responses and empty lines before the status
 * line count as header lines.
 */
function createByteLimit(): (chunk: Buffer) => number {
  let [headBytes, headLines, bodyBytes] = [0, 0, 0];
  let [isHead, hasFinalStatus] = [true, false];
  let lineStart = "";

  const endLine = () => {
    headLines++;
    const isEmpty = lineStart === "\r\n" || lineStart === "\n";
    if (isEmpty && hasFinalStatus) isHead = false;
    if (/^HTTP\/\d\.\d [2-9]/.test(lineStart)) hasFinalStatus = true;
    lineStart = "";
  };

  return (chunk) => {
    let at = 0;
    while (isHead && at < chunk.length) {
      const lineFeedAt = chunk.indexOf(lineFeed, at);
      const end = lineFeedAt === -1 ? chunk.length : lineFeedAt + 1;
      headBytes += end - at;
      lineStart += chunk.toString("latin1", at, Math.min(end, at + lineStartMax - lineStart.length));
      at = end;
      if (lineFeedAt !== -1) endLine();
      if (headBytes > headBytesMax || headLines > headLinesMax) return 0;
    }
    const allowedBytes = Math.min(chunk.length - at, bodyBytesMax - bodyBytes);
    bodyBytes += allowedBytes;
    return at + allowedBytes;
  };
}
