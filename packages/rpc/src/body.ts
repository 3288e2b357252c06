import { constants } from "node:http2";
import { GrowingBuffer } from "@amana/runtime";
import { Code, ConnectError } from "@connectrpc/connect";
import { unavailable } from "./domain-error.ts";
import { toConnectError } from "./error-mapping.ts";
import type { Request } from "./listener.ts";

/** Maximum size of a message in both directions. */
export const messageBytesMax = 4 * 1024 * 1024;
/**
 * Bodies up to this size may use the additional quarter of the limit (see `createBodyReader`).
 * Nearly all requests are smaller.
 */
const smallBytesMax = 16 * 1024;

/**
 * Maximum number of chunks of a body. A small chunk takes as much time as a large chunk. A message
 * of maximum size in 10 000 chunks has about 400 bytes in each chunk.
 */
const chunksMax = 10_000;

/**
 * Reads a request body to its end. Throws a ConnectError when the body exceeds `messageBytesMax`.
 */
export type ReadBody = (request: Request) => Promise<Buffer>;

/**
 * Creates a reader of request bodies. All unfinished bodies together buffer at most
 * `unfinishedBytesMax` bytes. Small bodies may exceed this limit by a quarter, so that unfinished
 * large bodies do not delay them. The reader rejects a body beyond the limit and drops the rest of
 * the body, so that the caller can still receive an error response.
 */
export function createBodyReader(unfinishedBytesMax: number): ReadBody {
  let buffered = 0;
  return async (request) => {
    if (request.destroyed) throw new Error("the caller closed the connection");
    const body = new GrowingBuffer();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const append = (chunk: Buffer) => {
      if (body.length + chunk.length > messageBytesMax) return reject(tooLargeToRead());
      const capacityBefore = body.capacity;
      body.append(chunk);
      buffered += body.capacity - capacityBefore;
      const max = body.capacity <= smallBytesMax ? unfinishedBytesMax * 1.25 : unfinishedBytesMax;
      if (buffered > max) reject(tooManyBytes());
    };
    request
      .once("end", resolve)
      .once("error", reject)
      .once("close", () => reject(new Error("the caller closed the connection")));
    const declared = Number(request.headers["content-length"] ?? 0);
    if (declared > messageBytesMax) reject(tooLargeToRead(declared));
    boundChunks(request);
    request.on("data", append);
    try {
      await promise;
      return body.bytes();
    } finally {
      buffered -= body.capacity;
      // Removes the listener, because the request can outlive this function and would retain the
      // buffer.
      request.off("data", append);
    }
  };
}

/** Reads and drops the rest of a body. */
export function dropBody(request: Request): void {
  boundChunks(request);
  request.resume();
}

/** Ends a request whose body has too many chunks. Over HTTP/1.1, its connection also ends. */
function boundChunks(request: Request): void {
  let chunks = 0;
  request.on("data", () => {
    if (++chunks <= chunksMax) return;
    if ("stream" in request) request.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    else request.destroy();
  });
}

// The texts equal the texts of connect-node, so that a caller gets the same text from the fast path
// and from connect-node.
export const tooLargeToRead = (bytes?: number) =>
  new ConnectError(
    `message size ${bytes === undefined ? "" : `${bytes} `}is larger than configured readMaxBytes ${messageBytesMax}`,
    Code.ResourceExhausted,
  );

export const tooLargeToWrite = (bytes: number) =>
  new ConnectError(`message size ${bytes} is larger than configured writeMaxBytes ${messageBytesMax}`, Code.ResourceExhausted);

/**
 * Creates an error with a refusal. `createRpcClient` then retries a safe call at another replica,
 * and the gateway responds with 503.
 */
function tooManyBytes(): ConnectError {
  const refusal = unavailable("service_unavailable", "The service is receiving too many bytes. Try again in a moment.");
  const error = new ConnectError(refusal.message, Code.ResourceExhausted);
  error.details.push(...toConnectError(refusal).details);
  return error;
}
