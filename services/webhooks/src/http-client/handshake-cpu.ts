import { setBounded } from "@amana/runtime";

/** Part of one processor that the TLS handshakes of a business may use. */
const share = 0.25;
/** CPU time that a business may use at once, as the time in which its share provides it. */
const burstMs = 1_000;
const businessesMax = 10_000;

/**
 * Limits the CPU time of the TLS handshakes of each business. When a business has used more than
 * its share, its slots for connecting stay occupied until the share has provided this CPU time.
 */
export class HandshakeCpu {
  /**
   * Time by `performance.now()` until which the share of each business provides the CPU time that
   * the business has used.
   */
  readonly #providedUntilMs = new Map<string, number>();

  /** Adds CPU time of a handshake of a business. */
  add(businessId: string, cpuMs: number): void {
    const fromMs = Math.max(performance.now(), this.#providedUntilMs.get(businessId) ?? 0);
    setBounded(this.#providedUntilMs, businessId, fromMs + cpuMs / share, businessesMax);
  }

  /** Returns the time for which a slot of the business must stay occupied after its handshake. */
  holdMs(businessId: string): number {
    return Math.max(0, (this.#providedUntilMs.get(businessId) ?? 0) - performance.now() - burstMs);
  }
}
