import type { IncomingMessage } from "node:http";
import { Problem } from "../problem.ts";
import type { ByteBound, ByteCounters } from "./byte-counters.ts";

const capacityMin = 4 * 1024;
const tooManyChunks = "The body arrived in too many small chunks. Send larger ones, or a Content-Length.";

/**
 * A small chunk costs as much time as a large one. A megabyte in 10 000 chunks has 100 bytes in
 * each; TCP segments are larger.
 */
export const chunksMax = 10_000;

/**
 * A request's body, read into one buffer that grows by doubling: chunks are copied, so that a body
 * in one-byte chunks takes no more memory than another. The buffer counts towards the bounds from
 * its first byte until `release`. Reading begins before the key is known, because Node would keep
 * each chunk of a body that nobody reads as a buffer of its own. A body that nobody keeps is
 * dropped as it arrives.
 */
export class IncomingBody {
  readonly #raw: IncomingMessage;
  readonly #counters: ByteCounters;
  readonly #whole = Promise.withResolvers<Buffer>();
  #lengthMax = 0;
  #bounds: readonly ByteBound[] = [];
  #counted = 0;
  #buffer = Buffer.alloc(0);
  #length = 0;
  #chunks = 0;
  #isKept = false;

  /** `onTooManyChunks`: called if the client goes on to send small chunks after a refusal. */
  constructor(raw: IncomingMessage, counters: ByteCounters, onTooManyChunks: () => void) {
    this.#raw = raw;
    this.#counters = counters;
    // The request may be refused before anyone waits for its body.
    this.#whole.promise.catch(() => {});
    raw.on("data", (chunk: Buffer) => {
      this.#chunks++;
      if (this.#chunks === 2 * chunksMax) onTooManyChunks();
      if (this.#isKept) this.#store(chunk);
    });
    raw.once("end", () => this.#whole.resolve(this.#buffer.subarray(0, this.#length)));
    raw.once("error", (error) => this.#fail(error));
  }

  /** Keeps the body from now on. */
  keep(lengthMax: number, bounds: readonly ByteBound[]): void {
    this.#lengthMax = lengthMax;
    this.#bounds = bounds;
    this.#isKept = true;
  }

  /**
   * Returns the whole body. From now on it counts towards these bounds, with its announced length:
   * a body that cannot be had is refused before it is sent. Rejects with a Problem.
   */
  async read(bounds: readonly ByteBound[]): Promise<Buffer> {
    if (this.#isKept) {
      const counted = Math.max(this.#counted, Math.min(this.#announced() ?? 0, this.#lengthMax));
      this.#counters.add(this.#bounds, -this.#counted);
      this.#counted = 0;
      this.#bounds = bounds;
      this.#count(counted);
    }
    return await this.#whole.promise;
  }

  /** Forgets the body. What is still sent of it is dropped. */
  release(): void {
    this.#isKept = false;
    this.#buffer = Buffer.alloc(0);
    this.#counters.add(this.#bounds, -this.#counted);
    this.#counted = 0;
  }

  #store(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#lengthMax) this.#fail(Problem.of("body_too_large"));
    else if (this.#chunks > chunksMax) this.#fail(Problem.of("body_too_large", { detail: tooManyChunks }));
    else if (this.#hasRoomFor(length)) {
      chunk.copy(this.#buffer, this.#length);
      this.#length = length;
    }
  }

  /** Grows the buffer; false when that exceeds a bound. */
  #hasRoomFor(length: number): boolean {
    if (length <= this.#buffer.length) return true;
    const doubled = Math.max(2 * this.#buffer.length, capacityMin);
    const capacity = Math.max(length, Math.min(doubled, this.#announced() ?? this.#lengthMax));
    if (!this.#count(capacity)) return false;
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
    return true;
  }

  /** Raises what is counted to `bytes`; false when that exceeds a bound. */
  #count(bytes: number): boolean {
    if (bytes <= this.#counted) return true;
    const exceeded = this.#counters.take(this.#bounds, bytes - this.#counted);
    if (exceeded) this.#fail(exceeded.refusal());
    else this.#counted = bytes;
    return !exceeded;
  }

  #fail(error: Error): void {
    if (this.#isKept) this.release();
    this.#whole.reject(error);
  }

  #announced(): number | undefined {
    const length = this.#raw.headers["content-length"];
    return length === undefined ? undefined : Number(length);
  }
}
