import { bytesAtOnce } from "../metrics.ts";
import type { Problem } from "../problem.ts";

/** Key of the counter of all bytes of the gateway. */
export const allBytes = "all";

/** A limit for the bytes that are counted under one key. */
export interface ByteBound {
  readonly key: string;
  readonly max: number;
  /** Creates the response to a request that would exceed the limit. */
  readonly refusal: () => Problem;
}

/** Counts bytes in memory. A byte counts under several keys: of its caller, and of all callers. */
export class ByteCounters {
  readonly #used = new Map<string, number>();

  used(key: string): number {
    return this.#used.get(key) ?? 0;
  }

  /** Counts the bytes under every key. If they exceed a limit, counts nothing and returns it. */
  take(bounds: readonly ByteBound[], bytes: number): ByteBound | undefined {
    const exceededBound = bounds.find(({ key, max }) => this.used(key) + bytes > max);
    if (!exceededBound) this.add(bounds, bytes);
    return exceededBound;
  }

  /** Counts bytes that are in memory already, even beyond a limit. A negative number subtracts. */
  add(bounds: readonly ByteBound[], bytes: number): void {
    for (const { key } of bounds) {
      const used = this.used(key) + bytes;
      if (used === 0) this.#used.delete(key);
      else this.#used.set(key, used);
    }
    bytesAtOnce.set(this.used(allBytes));
  }
}
