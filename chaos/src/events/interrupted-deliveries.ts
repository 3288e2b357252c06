import { sleep } from "@amana/runtime";
import type { Pool } from "pg";

/**
 * Records the deliveries that were leased during a fault that may lose the result of a POST. Only
 * these deliveries may arrive again, once more for each fault.
 */
export class InterruptedDeliveries {
  readonly #webhooks: Pool;
  readonly #times = new Map<string, number>();
  readonly #tokens = new Set<string>();
  #timesOfAll = 0;

  constructor(webhooks: Pool) {
    this.#webhooks = webhooks;
  }

  /** Runs a fault. The fault calls `recordLeases` while it lasts and at its end. */
  async during<T>(fault: (recordLeases: () => Promise<void>) => Promise<T>): Promise<T> {
    const leased = new Set<string>();
    try {
      return await fault(async () => {
        for (const delivery of await this.#leased()) leased.add(delivery);
      });
    } finally {
      for (const delivery of leased) this.#times.set(delivery, (this.#times.get(delivery) ?? 0) + 1);
    }
  }

  times(eventId: string, endpointId: string): number {
    return this.#timesOfAll + (this.#times.get(`${eventId} ${endpointId}`) ?? 0);
  }

  /** Allows each delivery to arrive once more, after a replay was requested. */
  allowReplay(): void {
    this.#timesOfAll++;
  }

  /** Ends the recorded leases, which would otherwise expire after 30 s. */
  async endLeases(): Promise<void> {
    await this.#webhooks.query(
      "update delivery set leased_until = now() where status = 'PENDING' and leased_until > now() and lease_token = any($1)",
      [[...this.#tokens]],
    );
  }

  /** Sum of the interruptions of all deliveries. */
  get sum(): number {
    return [...this.#times.values()].reduce((sum, times) => sum + times, 0);
  }

  /**
   * Returns the leased deliveries. Waits while the database is down, because nothing changes then.
   */
  async #leased(): Promise<string[]> {
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
