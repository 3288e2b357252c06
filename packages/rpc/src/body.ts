import { GrowingBuffer } from "@amana/runtime";
import { Code, ConnectError } from "@connectrpc/connect";
import { unavailable } from "./domain-error.ts";
import { toConnectError } from "./error-mapping.ts";
import type { Request } from "./listener.ts";

/** Maximum size of a message in both directions. */
export const messageBytesMax = 4 * 1024 * 1024;
/** Bodies up to this size may use the extra quarter; nearly all requests are smaller. */
const smallBytesMax = 16 * 1024;

/** Reads a whole request body. Throws a ConnectError when it exceeds `messageBytesMax`. */
export type ReadBody = (request: Request) => Promise<Buffer>;

/**
 * Creates a reader of request bodies that buffer at most `unfinishedBytesMax` bytes in all. Small
 * bodies may use a quarter more, so that unfinished large bodies do not block them. Rejects a body
 * beyond that. An error response can still be sent to the request.
 */
export function createBodyReader(unfinishedBytesMax: number): ReadBody {
  let buffered = 0;
  return async (request) => {
    const declared = Number(request.headers["content-length"] ?? 0);
    if (declared > messageBytesMax) throw tooLargeToRead(declared);
    const body = new GrowingBuffer();
    try {
      // By default, leaving the loop destroys the request, and over HTTP/1.1 its connection.
      for await (const chunk of request.iterator({ destroyOnReturn: false })) {
        if (body.length + chunk.length > messageBytesMax) throw tooLargeToRead();
        const before = body.capacity;
        body.append(chunk);
        buffered += body.capacity - before;
        const max = body.capacity <= smallBytesMax ? unfinishedBytesMax * 1.25 : unfinishedBytesMax;
        if (buffered > max) throw tooManyBytes();
      }
      return body.bytes();
    } finally {
      buffered -= body.capacity;
    }
  };
}

// The texts are those of connect-node, so that a caller gets the same text from both paths.
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
