/**
 * Collects bytes that arrive in pieces into one buffer. A piece costs its bytes and no object, so
 * that a sender of many tiny pieces cannot use many times the memory of what it sends.
 */
export class GrowingBuffer {
  #buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes allocated: at most twice `length`. */
  get capacity(): number {
    return this.#buffer.length;
  }

  append(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      // Not from Node's shared pool, which a small buffer would keep in memory as a whole.
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
