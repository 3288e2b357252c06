import type { IncomingMessage } from "node:http";
import type { BoundedCounters } from "../bounded-counters.ts";
import type { CallerBound } from "../caller-bounds.ts";
import { Problem } from "../problem.ts";

const capacityMin = 4 * 1024;
const tooManyChunks = "The body arrived in too many small chunks. Send larger chunks or a Content-Length.";

/**
 * Maximum number of chunks in a body, because a small chunk takes as much time as a large chunk. A
 * body of a megabyte stays below the maximum if its chunks have more than 100 bytes on average. TCP
 * segments are larger.
 */
const chunksMax = 10_000;
/** Number of chunks that take about as much CPU time as a request. */
const chunksPerRequest = 100;

/**
 * A request's body in one buffer. A full buffer is replaced by a larger buffer, usually of twice
 * the size. Chunks are copied into the buffer, so that a body in one-byte chunks uses no more
 * memory than another body of the same length. The size of the buffer counts towards the byte
 * limits until `release`. Reading begins before the key is resolved, because Node keeps each unread
 * chunk in a separate buffer. Bytes that arrive before `startStoring` are dropped.
 */
export class IncomingBody {
  readonly #raw: IncomingMessage;
  readonly #counters: BoundedCounters;
  readonly #body = Promise.withResolvers<Buffer>();
  #lengthMax = 0;
  #bounds: readonly CallerBound[] = [];
  #countedBytes = 0;
  #buffer = Buffer.alloc(0);
  #length = 0;
  #chunks = 0;
  #isKept = false;

  /**
   * `onTooManyChunks` is called if the caller continues to send small chunks after its body was
   * rejected. `onManyChunks` is called for every hundredth chunk.
   */
  constructor(
    raw: IncomingMessage,
    counters: BoundedCounters,
    { onManyChunks, onTooManyChunks }: Record<"onManyChunks" | "onTooManyChunks", () => void>,
  ) {
    this.#raw = raw;
    this.#counters = counters;
    // Prevents an unhandled rejection, because a request may be rejected before `read` is called.
    this.#body.promise.catch(() => {});
    raw.on("data", (chunk: Buffer) => {
      this.#chunks++;
      if (this.#chunks % chunksPerRequest === 0) onManyChunks();
      if (this.#chunks === 2 * chunksMax) onTooManyChunks();
      if (this.#isKept) this.#store(chunk);
    });
    raw.once("end", () => this.#body.resolve(this.#buffer.subarray(0, this.#length)));
    raw.once("error", (error) => this.#fail(error));
  }

  /** Stores the bytes that arrive from now on. */
  startStoring(lengthMax: number, bounds: readonly CallerBound[]): void {
    this.#lengthMax = lengthMax;
    this.#bounds = bounds;
    this.#isKept = true;
  }

  /**
   * Returns the complete body. From this call on, the Content-Length counts towards the limits, so
   * that a body beyond a limit is rejected before it is received. The promise rejects with a
   * Problem if a limit is exceeded.
   */
  async read(bounds: readonly CallerBound[]): Promise<Buffer> {
    if (this.#isKept) {
      const countedBytes = Math.max(this.#countedBytes, Math.min(this.#announced() ?? 0, this.#lengthMax));
      this.#counters.add(this.#bounds, -this.#countedBytes);
      this.#countedBytes = 0;
      this.#bounds = bounds;
      const refusal = this.#count(countedBytes);
      // The body may be complete, so that `#fail` has no effect on its promise.
      if (refusal) throw refusal;
    }
    return await this.#body.promise;
  }

  /** Frees the body. Bytes that arrive later are dropped. */
  release(): void {
    this.#isKept = false;
    this.#buffer = Buffer.alloc(0);
    this.#counters.add(this.#bounds, -this.#countedBytes);
    this.#countedBytes = 0;
  }

  #store(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#lengthMax) this.#fail(Problem.of("body_too_large"));
    else if (this.#chunks > chunksMax) this.#fail(Problem.of("body_too_large", { detail: tooManyChunks }));
    else if (this.#growTo(length)) {
      chunk.copy(this.#buffer, this.#length);
      this.#length = length;
    }
  }

  /**
   * Grows the buffer to at least `length` bytes. Returns false if the buffer would exceed a limit.
   */
  #growTo(length: number): boolean {
    if (length <= this.#buffer.length) return true;
    const doubledCapacity = Math.max(2 * this.#buffer.length, capacityMin);
    const capacity = Math.max(length, Math.min(doubledCapacity, this.#announced() ?? this.#lengthMax));
    if (this.#count(capacity)) return false;
    const largerBuffer = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(largerBuffer, 0, 0, this.#length);
    this.#buffer = largerBuffer;
    return true;
  }

  /**
   * Raises the counted bytes to `bytes`. If they would exceed a limit, rejects the body and returns
   * the problem.
   */
  #count(bytes: number): Problem | undefined {
    if (bytes <= this.#countedBytes) return undefined;
    const refusal = this.#counters.reserve(this.#bounds, bytes - this.#countedBytes)?.refusal();
    if (refusal) this.#fail(refusal);
    else this.#countedBytes = bytes;
    return refusal;
  }

  #fail(error: Error): void {
    if (this.#isKept) this.release();
    this.#body.reject(error);
  }

  #announced(): number | undefined {
    const length = this.#raw.headers["content-length"];
    return length === undefined ? undefined : Number(length);
  }
}
