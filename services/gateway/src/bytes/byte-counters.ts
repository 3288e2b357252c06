import { bytesAtOnce } from "../metrics.ts";
import type { Problem } from "../problem.ts";

/** Key of the counter for all bytes in the gateway. */
export const allBytesKey = "all";

/** A limit for the bytes that are counted under one key. */
export interface ByteBound {
  readonly key: string;
  readonly max: number;
  /** Creates the problem for a request that would exceed the limit. */
  readonly refusal: () => Problem;
}

/**
 * Counts bytes in memory by key. The bytes of a request count under several keys, for example the
 * caller's key and `allBytesKey`.
 */
export class ByteCounters {
  readonly #used = new Map<string, number>();

  usedBytes(key: string): number {
    return this.#used.get(key) ?? 0;
  }

  /**
   * Counts the bytes under the key of each limit. If a limit is exceeded, returns this limit and
   * counts nothing.
   */
  reserve(bounds: readonly ByteBound[], bytes: number): ByteBound | undefined {
    const exceededBound = bounds.find(({ key, max }) => this.usedBytes(key) + bytes > max);
    if (!exceededBound) this.add(bounds, bytes);
    return exceededBound;
  }

  /** Counts bytes that are in memory already, even beyond a limit. A negative number subtracts. */
  add(bounds: readonly ByteBound[], bytes: number): void {
    for (const { key } of bounds) {
      const used = this.usedBytes(key) + bytes;
      if (used === 0) this.#used.delete(key);
      else this.#used.set(key, used);
    }
    bytesAtOnce.set(this.usedBytes(allBytesKey));
  }
}
