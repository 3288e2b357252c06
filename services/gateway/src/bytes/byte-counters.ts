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

/** Counts bytes in memory. Each byte counts under several keys: of a caller, and of all callers. */
export class ByteCounters {
  readonly #used = new Map<string, number>();

  used(key: string): number {
    return this.#used.get(key) ?? 0;
  }

  /** Counts the bytes under every key. Counts none and returns the limit if they exceed one. */
  take(bounds: readonly ByteBound[], bytes: number): ByteBound | undefined {
    const exceeded = bounds.find(({ key, max }) => this.used(key) + bytes > max);
    if (!exceeded) this.add(bounds, bytes);
    return exceeded;
  }

  /** Counts bytes even beyond a limit, because they exist already. Subtracts a negative number. */
  add(bounds: readonly ByteBound[], bytes: number): void {
    for (const { key } of bounds) {
      const used = this.used(key) + bytes;
      if (used === 0) this.#used.delete(key);
      else this.#used.set(key, used);
    }
    bytesAtOnce.set(this.used(allBytes));
  }
}
