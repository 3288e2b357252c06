import { setBounded } from "@amana/runtime";

/**
 * CPU time of a TLS connection outside of the measured parts, for example for its keys and for TCP.
 * A new connection with usual certificates takes 3 ms in total.
 */
const unmeasuredMs = 2.5;
/** Part of one processor that the TLS handshakes of a business may use. */
const share = 0.25;
/** Time in which the share provides the CPU time that a business may use at once, 250 ms. */
const burstMs = 1_000;
const businessesMax = 10_000;

/**
 * Limits the CPU time of the TLS handshakes of each business. If a business has used more CPU time
 * than its share and the burst, its slots for connecting stay occupied until the share has provided
 * the excess.
 */
export class HandshakeCpu {
  /**
   * For each business, the time by `performance.now()` at which its share has provided all CPU time
   * that the business has used.
   */
  readonly #providedUntilMs = new Map<string, number>();

  /** Adds the CPU time of a new TLS connection that is not measured. */
  begin(businessId: string): void {
    this.add(businessId, unmeasuredMs);
  }

  /** Adds measured CPU time of a handshake of a business. */
  add(businessId: string, cpuMs: number): void {
    const fromMs = Math.max(performance.now(), this.#providedUntilMs.get(businessId) ?? 0);
    setBounded(this.#providedUntilMs, businessId, fromMs + cpuMs / share, businessesMax);
  }

  /**
   * Returns the time, in milliseconds, for which a slot of the business must stay occupied when an
   * attempt no longer needs the slot.
   */
  holdMs(businessId: string): number {
    return Math.max(0, (this.#providedUntilMs.get(businessId) ?? 0) - performance.now() - burstMs);
  }
}
