import type { Socket } from "node:net";

/**
 * Finds sockets whose peer does not read what is sent to it. Node's socket timeout does not find
 * them, because each byte that the peer sends restarts the timeout.
 */
export class StalledSockets {
  readonly #stallMs: number;
  readonly #nowMs: () => number;
  readonly #sent = new WeakMap<Socket, { bytes: number; sinceMs: number }>();

  /** `nowMs` is a monotonic clock in milliseconds. */
  constructor(stallMs: number, nowMs: () => number = () => performance.now()) {
    this.#stallMs = stallMs;
    this.#nowMs = nowMs;
  }

  /**
   * Returns whether the socket had bytes to send and sent none in all calls during `stallMs`. Must
   * be called several times during `stallMs`.
   */
  isStalled(socket: Socket): boolean {
    const nowMs = this.#nowMs();
    const bytes = bytesSent(socket);
    const previousCheck = this.#sent.get(socket);
    // An ended socket has sent its last bytes, and the peer has not closed its side yet.
    const isWaiting = socket.writableLength > 0 || socket.writableEnded;
    if (previousCheck && isWaiting && previousCheck.bytes === bytes) return nowMs - previousCheck.sinceMs >= this.#stallMs;
    this.#sent.set(socket, { bytes, sinceMs: nowMs });
    return false;
  }
}

/**
 * Returns the number of bytes that Node has passed to the operating system. `bytesWritten` includes
 * bytes that Node still buffers, so these are subtracted. Node has no public value for the bytes in
 * libuv's queue (https://github.com/nodejs/node/pull/44157 was closed). `writableLength` decreases
 * only when a complete write has ended, so a large response to a slow reader would seem stalled.
 */
function bytesSent(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}
