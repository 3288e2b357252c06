import { sleep } from "@amana/runtime";
import type { Pool } from "pg";

/**
 * Records which deliveries are leased during a fault that may lose the result of a POST. webhooks
 * may send only these deliveries again, once for each fault.
 */
export class InterruptedDeliveries {
  readonly #webhooks: Pool;
  readonly #counts = new Map<string, number>();
  readonly #tokens = new Set<string>();
  #replays = 0;

  constructor(webhooks: Pool) {
    this.#webhooks = webhooks;
  }

  /** Runs `fault`, which must call `recordLeases` during the fault and at its end. */
  async recordDuring<T>(fault: (recordLeases: () => Promise<void>) => Promise<T>): Promise<T> {
    const leased = new Set<string>();
    try {
      return await fault(async () => {
        for (const delivery of await this.#readLeased()) leased.add(delivery);
      });
    } finally {
      for (const delivery of leased) this.#counts.set(delivery, (this.#counts.get(delivery) ?? 0) + 1);
    }
  }

  /** Returns how many repetitions of the delivery are permitted. */
  countFor(eventId: string, endpointId: string): number {
    return this.#replays + (this.#counts.get(`${eventId} ${endpointId}`) ?? 0);
  }

  /** Permits one more repetition of each delivery, after a replay was requested. */
  allowReplay(): void {
    this.#replays++;
  }

  /** Ends the recorded leases, so that the program need not wait 30 s until they expire. */
  async endLeases(): Promise<void> {
    await this.#webhooks.query(
      "update delivery set leased_until = now() where status = 'PENDING' and leased_until > now() and lease_token = any($1)",
      [[...this.#tokens]],
    );
  }

  /** Sum of the interruptions of all deliveries. */
  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /**
   * Returns the leased deliveries. Waits while the database is down, because leases do not change
   * in this time.
   */
  async #readLeased(): Promise<string[]> {
    for (;;) {
      try {
        const { rows } = await this.#webhooks.query<{ delivery: string; token: string }>(
          `select event_id || ' ' || endpoint_id as delivery, lease_token as token
           from delivery where status = 'PENDING' and lease_token is not null`,
        );
        for (const { token } of rows) this.#tokens.add(token);
        return rows.map(({ delivery }) => delivery);
      } catch {
        await sleep(100);
      }
    }
  }
}
