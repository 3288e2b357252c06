import { bytesAtOnce } from "../metrics.ts";
import type { Problem } from "../problem.ts";

/** The key under which all bytes of the gateway are counted. */
export const allBytes = "all";

/** A bound on the bytes that are counted under one key. */
export interface ByteBound {
  readonly key: string;
  readonly max: number;
  /** The response to a request that would exceed the bound. */
  readonly refusal: () => Problem;
}

/** Counts bytes in memory, each under several keys: those of a caller and those of all callers. */
export class ByteCounters {
  readonly #used = new Map<string, number>();

  used(key: string): number {
    return this.#used.get(key) ?? 0;
  }

  /**
   * Counts the bytes under every key, or returns the first bound that they exceed and counts none.
   */
  take(bounds: readonly ByteBound[], bytes: number): ByteBound | undefined {
    const exceeded = bounds.find(({ key, max }) => this.used(key) + bytes > max);
    if (!exceeded) this.add(bounds, bytes);
    return exceeded;
  }

  /** Counts bytes that exist already, even beyond a bound; a negative number returns them. */
  add(bounds: readonly ByteBound[], bytes: number): void {
    for (const { key } of bounds) {
      const used = this.used(key) + bytes;
      if (used === 0) this.#used.delete(key);
      else this.#used.set(key, used);
    }
    bytesAtOnce.set(this.used(allBytes));
  }
}
