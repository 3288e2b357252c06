import { GrowingBuffer } from "@amana/runtime";
import { Code, ConnectError } from "@connectrpc/connect";
import { unavailable } from "./domain-error.ts";
import { toConnectError } from "./error-mapping.ts";
import type { Request } from "./listener.ts";

/** The largest message that is sent or accepted. */
export const messageBytesMax = 4 * 1024 * 1024;
/** Nearly all requests are smaller. */
const smallBytesMax = 16 * 1024;

/** Reads a whole request body. Throws a ConnectError when it is larger than a message may be. */
export type ReadBody = (request: Request) => Promise<Buffer>;

/**
 * Creates a reader of request bodies that together buffer at most `unfinishedBytesMax` bytes, and a
 * quarter more for small bodies, so that large ones that do not end cannot keep them out. A body
 * beyond that is rejected. The request stays usable: an error response can be sent on it.
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

// Worded as connect-node words them, so that a caller gets the same text whichever path serves the
// call.
export const tooLargeToRead = (bytes?: number) =>
  new ConnectError(
    `message size ${bytes === undefined ? "" : `${bytes} `}is larger than configured readMaxBytes ${messageBytesMax}`,
    Code.ResourceExhausted,
  );

export const tooLargeToWrite = (bytes: number) =>
  new ConnectError(`message size ${bytes} is larger than configured writeMaxBytes ${messageBytesMax}`, Code.ResourceExhausted);

/**
 * With the refusal that `createRpcClient` repeats elsewhere if that does no harm, and the gateway
 * turns into a 503.
 */
function tooManyBytes(): ConnectError {
  const refusal = unavailable("service_unavailable", "The service receives too many bytes right now. Try again in a moment.");
  const error = new ConnectError(refusal.message, Code.ResourceExhausted);
  error.details.push(...toConnectError(refusal).details);
  return error;
}
