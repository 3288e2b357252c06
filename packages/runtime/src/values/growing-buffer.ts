/**
 * Collects pieces of bytes in one buffer. If each small piece were a separate object, the pieces
 * would use many times the memory.
 */
export class GrowingBuffer {
  #buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Returns the number of allocated bytes: at most twice `length`. */
  get capacity(): number {
    return this.#buffer.length;
  }

  append(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      // Avoids Node's shared pool, because a small buffer would keep the whole pool in memory.
      const grown = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#length));
      grown.set(this.bytes());
      this.#buffer = grown;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  /** Returns the bytes so far, without a copy. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
